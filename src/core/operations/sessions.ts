import { changes, reads, removes } from "./operation.ts";

/** Sessions of browsers. */

const sessions = () => import("../sessions/admin.ts");

export const sessionOperations = {
  "sessions.list": reads("/sessions", { user: "string?" }, async (ctx, input) =>
    (await sessions()).listSessions(ctx, input),
  ),
  "sessions.end": changes("/sessions/end", { user: "string?", id: "string?" }, async (ctx, input) =>
    (await sessions()).endSelected(ctx, input),
  ),
  "sessions.show": reads("/sessions/:id", { id: "string" }, async (ctx, input) =>
    (await sessions()).showSession(ctx, input),
  ),
  "sessions.remove": changes(
    "/sessions/:id",
    { id: "string" },
    async (ctx, input) => (await sessions()).endSession(ctx, input),
    removes,
  ),
};
