import { changes, consentFields, creates } from "./operation.ts";

/** Grants, codes and tokens without a browser. */

const issue = () => import("../tokens/issue.ts");

export const issueOperations = {
  "issue.grant": changes(
    "/issue/grant",
    consentFields,
    async (ctx, input) => (await issue()).issueGrant(ctx, input),
    creates,
  ),
  "issue.code": changes(
    "/issue/code",
    {
      user: "string",
      client: "string",
      scope: "string?",
      redirect_uri: "string?",
      nonce: "string?",
      state: "string?",
      code_challenge: "string?",
      code_challenge_method: "string?",
    },
    async (ctx, input) => (await issue()).issueCode(ctx, input),
    { status: 201, needsServer: "unless shared" },
  ),
  "issue.tokens": changes(
    "/issue/tokens",
    { user: "string", client: "string", scope: "string?", nonce: "string?", acr: "string?" },
    async (ctx, input) => (await issue()).issueTokens(ctx, input),
    creates,
  ),
};
