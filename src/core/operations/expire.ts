import { changes } from "./operation.ts";

/** Tokens, sessions and codes that expire before their time. */

export const expireOperations = {
  expire: changes(
    "/expire",
    {
      user: "string?",
      client: "string?",
      all: "boolean?",
      access: "boolean?",
      refresh: "boolean?",
      sessions: "boolean?",
      codes: "boolean?",
    },
    async (ctx, input) => (await import("../testing/expire.ts")).expire(ctx, input),
  ),
};
