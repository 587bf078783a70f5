import { changes, creates, none, reads, removes } from "./operation.ts";
import { needsOneOf, withRules } from "./schemas/rules.ts";

/** Sessions of browsers. */

const sessions = () => import("../sessions/admin.ts");
const session = async () => (await import("./schemas/shown.ts")).session;

export const sessionOperations = {
  "sessions.list": reads("/sessions", {
    role: "reader",
    summary: "List sessions",
    input: (zod) => zod.strictObject({ user: zod.string().optional() }),
    answer: async (zod) => zod.array(await session()),
    refuses: [404],
    run: async (ctx, input) => (await sessions()).listSessions(ctx, input),
  }),
  "sessions.begin": changes(
    "/sessions",
    {
      role: "tester",
      summary: "Begin the session of a user in the browser of a sign-in that waits, as if the user had been picked",
      input: (zod) =>
        zod.strictObject({
          user: zod.string(),
          sign_in: zod.string().describe("The id in the address of its pages"),
          csrf: zod.string().describe("The value on its login page"),
        }),
      answer: (zod) =>
        zod.object({
          user: zod.string(),
          cookie: zod.string().describe("The value of the session cookie"),
          expiresAt: zod.string().describe("ISO 8601"),
        }),
      refuses: [404, 409],
      run: async (ctx, input) => (await import("../login/begin-session.ts")).beginSession(ctx, input),
    },
    { ...creates, needsServer: "unless shared" },
  ),
  "sessions.end": changes("/sessions/end", {
    role: "tester",
    summary: "End sessions, and notify clients by back-channel logout",
    input: (zod) =>
      withRules(
        zod.strictObject({ user: zod.string().optional(), id: zod.string().optional() }),
        needsOneOf(["user", "id"], "needs a user or the id of a session"),
      ),
    answer: async (zod) =>
      zod.object({
        ended: zod.array(await session()),
        notices: zod.array(zod.object({ client: zod.string(), ok: zod.boolean(), detail: zod.string() })),
      }),
    refuses: [404],
    run: async (ctx, input) => (await sessions()).endSelected(ctx, input),
  }),
  "sessions.show": reads("/sessions/:id", {
    role: "reader",
    summary: "Show a session",
    input: (zod) => zod.strictObject({ id: zod.string() }),
    answer: session,
    refuses: [404],
    run: async (ctx, input) => (await sessions()).showSession(ctx, input),
  }),
  "sessions.remove": changes(
    "/sessions/:id",
    {
      role: "tester",
      summary: "End a session",
      input: (zod) => zod.strictObject({ id: zod.string() }),
      answer: none,
      refuses: [404],
      run: async (ctx, input) => (await sessions()).endSession(ctx, input),
    },
    removes,
  ),
};
