import { changes, creates } from "./operation.ts";

/** Single tokens. */

export const tokenOperations = {
  "token.issue": changes(
    "/token/issue",
    {
      user: "string?",
      client: "string",
      scope: "string?",
      type: "string?",
      audience: "string?",
      expires_in: "number?",
      claims: "any?",
      dpop_jkt: "string?",
      expired: "boolean?",
      not_yet_valid: "boolean?",
      wrong_issuer: "boolean?",
      wrong_audience: "boolean?",
      missing_issuer: "boolean?",
      missing_audience: "boolean?",
      missing_expiry: "boolean?",
      wrong_type: "boolean?",
      bad_signature: "boolean?",
      unknown_kid: "boolean?",
      alg_none: "boolean?",
    },
    async (ctx, input) => (await import("../testing/custom.ts")).issueToken(ctx, input),
    creates,
  ),
  "token.verify": changes(
    "/token/verify",
    { token: "string", audience: "string?", leeway: "number?" },
    async (ctx, input) => (await import("../tokens/verify.ts")).verifyToken(ctx, input),
    { changes: false },
  ),
  "token.introspect": changes(
    "/token/introspect",
    { token: "string" },
    async (ctx, input) => (await import("../tokens/introspect.ts")).introspectToken(ctx, input),
    { changes: false },
  ),
  "token.revoke": changes("/token/revoke", { token: "string" }, async (ctx, input) =>
    (await import("../tokens/revoke.ts")).revokeToken(ctx, input),
  ),
};
