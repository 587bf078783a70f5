import { reads } from "./operation.ts";

/** Scopes. */

export const scopeOperations = {
  "scopes.list": reads("/scopes", {}, async (ctx) => (await import("../scopes/scopes.ts")).listScopes(ctx)),
};
