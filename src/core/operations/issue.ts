import { changes, consent, creates } from "./operation.ts";
import { needs, withRules } from "./schemas/rules.ts";

/** Grants, codes and tokens without a browser. */

const issue = () => import("../tokens/issue.ts");
const shown = () => import("./schemas/shown.ts");

export const issueOperations = {
  "issue.grant": changes(
    "/issue/grant",
    {
      role: "tester",
      summary: "Record a consent, as if the user had allowed it",
      input: consent,
      answer: async () => (await shown()).grant,
      refuses: [404, 409],
      run: async (ctx, input) => (await issue()).issueGrant(ctx, input),
    },
    creates,
  ),
  "issue.code": changes(
    "/issue/code",
    {
      role: "tester",
      summary: "Issue an authorization code, as if the user had signed in and allowed it",
      input: async (zod) => {
        const { challengeSyntax } = await import("../tokens/pkce.ts");
        return withRules(
          zod.strictObject({
            ...consent(zod).shape,
            redirect_uri: zod.string().optional().describe("Absent: the first one of the client"),
            nonce: zod.string().optional(),
            state: zod.string().optional(),
            code_challenge: zod
              .string()
              .regex(challengeSyntax, {
                error: "is not the base64url of a SHA-256 hash: 43 characters without padding (RFC 7636 4.2)",
              })
              .optional(),
            code_challenge_method: zod.enum(["S256"]).optional(),
            acr: zod.string().optional(),
          }),
          needs("code_challenge_method", "code_challenge"),
        );
      },
      answer: (zod) =>
        zod.object({
          code: zod.string(),
          redirect_uri: zod.string(),
          url: zod.string(),
          expires_in: zod.int().describe("Seconds"),
        }),
      refuses: [404, 409],
      run: async (ctx, input) => (await issue()).issueCode(ctx, input),
    },
    { status: 201, needsServer: "unless shared" },
  ),
  "issue.tokens": changes(
    "/issue/tokens",
    {
      role: "tester",
      summary: "Issue tokens, as if the user had signed in and allowed it",
      input: (zod) =>
        zod.strictObject({ ...consent(zod).shape, nonce: zod.string().optional(), acr: zod.string().optional() }),
      answer: async () => (await shown()).tokenResponse,
      refuses: [404, 409],
      run: async (ctx, input) => (await issue()).issueTokens(ctx, input),
    },
    creates,
  ),
  "issue.saml": changes(
    "/issue/saml",
    {
      role: "tester",
      summary: "Issue a SAML response, as if the user had signed in",
      input: (zod) =>
        zod.strictObject({
          user: zod.string().describe("username"),
          client: zod.string().describe("The entityID of a service provider"),
          acs: zod.string().optional().describe("Absent: the first registered address"),
          in_response_to: zod.string().min(1).optional().describe("The ID of the AuthnRequest; absent: unsolicited"),
          relay_state: zod.string().max(8192).optional(),
          acr: zod.string().optional().describe("As if the user had met this value"),
        }),
      answer: async () => (await shown()).issuedSaml,
      refuses: [404, 409],
      run: async (ctx, input) => (await import("../saml/issue.ts")).issueSaml(ctx, input),
    },
    creates,
  ),
};
