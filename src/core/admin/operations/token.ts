import * as z from "zod";
import { declare } from "./operation.ts";
import * as given from "./schemas/given.ts";
import { whole } from "./schemas/times.ts";
import * as shown from "./schemas/shown.ts";
import { noFlawsTogether, tokenFlawFields } from "./schemas/token-flaws.ts";
import { withRules, type Rule } from "./schemas/rules.ts";
import { tokenKinds } from "../../testing/controls/custom.ts";
import { tenYears } from "../../../text/time.ts";

/** Single tokens. */

const typeIs = (...types: readonly string[]) => ({ properties: { type: { enum: types } } });

/** A refresh token is for this server alone. */
const notForRefresh = (field: string): Rule => ({
  broken: ({ type, [field]: value }) =>
    type === "refresh" && value !== undefined && value !== false
      ? { field, message: "is not for a refresh token: that is for this server alone" }
      : null,
  json: { anyOf: [typeIs("access", "id"), { properties: { [field]: { const: false } } }] },
});

/** What each type of token takes. */
const rulesOfKinds: readonly Rule[] = [
  ...["audience", "wrong_audience", "missing_audience", "audience_contains"].map(notForRefresh),
  {
    broken: ({ type, dpop_jkt: thumbprint }) =>
      (type ?? "access") !== "access" && thumbprint !== undefined
        ? { field: "dpop_jkt", message: "is for an access token alone (RFC 9449 6)" }
        : null,
    json: { anyOf: [{ properties: { dpop_jkt: false } }, typeIs("access")] },
  },
  {
    broken: ({ type, claims }) =>
      type === "refresh" && Object.keys(claims ?? {}).length > 0
        ? { field: "claims", message: "are not for a refresh token: only this server reads it" }
        : null,
    json: { anyOf: [typeIs("access", "id"), { properties: { claims: { maxProperties: 0 } } }] },
  },
  {
    broken: ({ type, user }) =>
      user === undefined && (type ?? "access") !== "access"
        ? { field: "type", message: "must be access for a client without a user (RFC 6749 4.4.3)" }
        : null,
    json: { anyOf: [{ required: ["user"] }, typeIs("access")] },
  },
];

export const tokenOperations = {
  "token.issue": declare({
    note: "No token lives longer than the settings let one live: 409.",
    input: withRules(
      z.strictObject({
        user: z.string().optional(),
        client: z.string(),
        scope: z.string().optional(),
        type: z.enum(tokenKinds).optional(),
        audience: z
          .union([z.string(), z.array(z.string()).min(1)])
          .optional()
          .describe("aud: a text, or a list"),
        expires_in: whole(1, tenYears).optional().describe("Seconds"),
        claims: given.ownTokenClaims.optional(),
        dpop_jkt: z
          .string()
          .regex(/^[\w-]{43}$/, { error: "is not a SHA-256 thumbprint of 43 characters (RFC 7638)" })
          .optional()
          .describe("For an access token alone (RFC 9449 6.1)"),
        ...tokenFlawFields,
      }),
      ...noFlawsTogether,
      ...rulesOfKinds,
    ),
    answer: z.object({
      token: z.string(),
      type: z.enum(["access", "id", "refresh"]),
      expires_in: z.int().describe("Seconds; negative for one that has expired"),
      warnings: z.array(z.string()),
    }),
    refuses: [404, 409],
    run: async (ctx, input) => (await import("../../testing/controls/custom.ts")).issueToken(ctx, input),
  }),
  "token.verify": declare({
    input: z.strictObject({
      token: z.string(),
      audience: z.string().optional(),
      leeway: z
        .number()
        .min(0, { error: "must be a number of seconds, 0 or more" })
        .optional()
        .describe("Seconds that clocks may be apart"),
    }),
    answer: z.object({
      valid: z.boolean(),
      checks: z.array(z.object({ name: z.string(), ok: z.boolean(), detail: z.string() })),
      notes: z.array(z.string()),
    }),
    run: async (ctx, input) => {
      // A JWT has dots, which neither XML nor base64 begins with.
      if (/^[^.\s<]+\.[^.\s]+\.[^.\s]*$/.test(input.token))
        return (await import("../../protocol/tokens/read/verify.ts")).verifyToken(ctx, input);
      const { samlTextIn } = await import("../../saml/read.ts");
      const xml = samlTextIn(input.token);
      return xml === null
        ? (await import("../../protocol/tokens/read/verify.ts")).verifyToken(ctx, input)
        : (await import("../../saml/verify.ts")).verifySaml(ctx, xml, input);
    },
  }),
  "token.introspect": declare({
    input: z.strictObject({ token: z.string() }),
    answer: shown.introspection,
    run: async (ctx, input) => (await import("../../protocol/tokens/introspect.ts")).introspectToken(ctx, input),
  }),
  "token.revoke": declare({
    input: z.strictObject({ token: z.string() }),
    answer: z.object({
      revoked: z.enum(["access_token", "refresh_token"]).nullable().describe("null: it was unknown or already invalid"),
      client: z.string().nullable(),
    }),
    run: async (ctx, input) => (await import("../../protocol/tokens/revoke.ts")).revokeToken(ctx, input),
  }),
};
