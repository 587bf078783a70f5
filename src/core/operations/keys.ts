import { changes, creates, reads, removes } from "./operation.ts";

/** Signing keys. */

const keys = () => import("../keys/admin.ts");

export const keyOperations = {
  "keys.list": { ...reads("/keys", {}, async (ctx) => (await keys()).listKeys(ctx)), changes: true },
  "keys.show": reads("/keys/:id", { id: "string" }, async (ctx, input) => (await keys()).showKey(ctx, input)),
  "keys.rotate": changes(
    "/keys",
    { alg: "string?" },
    async (ctx, input) => (await keys()).rotateKeys(ctx, input),
    creates,
  ),
  "keys.remove": changes(
    "/keys/:id",
    { id: "string" },
    async (ctx, input) => (await keys()).removeKey(ctx, input),
    removes,
  ),
};
