import * as z from "zod";
import { consent, declare } from "./operation.ts";
import * as shown from "./schemas/shown.ts";
import { needs, withRules } from "./schemas/rules.ts";
import { challengeSyntax } from "../../protocol/tokens/pkce.ts";

/** Grants, codes and tokens without a browser. */

const issue = () => import("../../protocol/tokens/issue.ts");

export const issueOperations = {
  "issue.grant": declare({
    input: consent,
    answer: shown.grant,
    refuses: [404, 409],
    run: async (ctx, input) => (await issue()).issueGrant(ctx, input),
  }),
  "issue.code": declare({
    input: withRules(
      z.strictObject({
        ...consent.shape,
        redirect_uri: z.string().optional().describe("Absent: the first one of the client"),
        nonce: z.string().optional(),
        state: z.string().optional(),
        code_challenge: z
          .string()
          .regex(challengeSyntax, {
            error: "is not the base64url of a SHA-256 hash: 43 characters without padding (RFC 7636 4.2)",
          })
          .optional(),
        code_challenge_method: z.enum(["S256"]).optional(),
        acr: z.string().optional(),
      }),
      needs("code_challenge_method", "code_challenge"),
    ),
    answer: z.object({
      code: z.string(),
      redirect_uri: z.string(),
      url: z.string(),
      expires_in: z.int().describe("Seconds"),
    }),
    refuses: [404, 409],
    run: async (ctx, input) => (await issue()).issueCode(ctx, input),
  }),
  "issue.tokens": declare({
    input: z.strictObject({ ...consent.shape, nonce: z.string().optional(), acr: z.string().optional() }),
    answer: shown.tokenResponse,
    refuses: [404, 409],
    run: async (ctx, input) => (await issue()).issueTokens(ctx, input),
  }),
  "issue.saml": declare({
    input: z.strictObject({
      user: z.string().describe("username"),
      client: z.string().describe("The entityID of a service provider"),
      acs: z.string().optional().describe("Absent: the first registered address"),
      in_response_to: z.string().min(1).optional().describe("The ID of the AuthnRequest; absent: unsolicited"),
      relay_state: z.string().max(8192).optional(),
      acr: z.string().optional().describe("As if the user had met this value"),
    }),
    answer: shown.issuedSaml,
    refuses: [404, 409],
    run: async (ctx, input) => (await import("../../saml/issue.ts")).issueSaml(ctx, input),
  }),
};
