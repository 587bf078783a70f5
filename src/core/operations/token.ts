import { changes, creates } from "./operation.ts";
import { noFlawsTogether, tokenFlawFields } from "./schemas/token-flaws.ts";
import { withRules, type Rule } from "./schemas/rules.ts";

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
  "token.issue": changes(
    "/token/issue",
    {
      role: "tester",
      summary: "Issue one token, as the flow would, or bad on purpose",
      note: "No token lives longer than the settings let one live: 409.",
      input: async (zod) => {
        const { tokenKinds } = await import("../controls/custom.ts");
        const { tenYears } = await import("../../text/time.ts");
        const { ownTokenClaims, whole } = await import("./schemas/given.ts");
        return withRules(
          zod.strictObject({
            user: zod.string().optional(),
            client: zod.string(),
            scope: zod.string().optional(),
            type: zod.enum(tokenKinds).optional(),
            audience: zod
              .union([zod.string(), zod.array(zod.string()).min(1)])
              .optional()
              .describe("aud: a text, or a list"),
            expires_in: whole(1, tenYears).optional().describe("Seconds"),
            claims: ownTokenClaims.optional(),
            dpop_jkt: zod
              .string()
              .regex(/^[\w-]{43}$/, { error: "is not a SHA-256 thumbprint of 43 characters (RFC 7638)" })
              .optional()
              .describe("For an access token alone (RFC 9449 6.1)"),
            ...tokenFlawFields(zod),
          }),
          ...noFlawsTogether,
          ...rulesOfKinds,
        );
      },
      answer: (zod) =>
        zod.object({
          token: zod.string(),
          type: zod.enum(["access", "id", "refresh"]),
          expires_in: zod.int().describe("Seconds; negative for one that has expired"),
          warnings: zod.array(zod.string()),
        }),
      refuses: [404, 409],
      run: async (ctx, input) => (await import("../controls/custom.ts")).issueToken(ctx, input),
    },
    creates,
  ),
  "token.verify": changes(
    "/token/verify",
    {
      role: "reader",
      summary: "Verify a token and report every check",
      input: (zod) =>
        zod.strictObject({
          token: zod.string(),
          audience: zod.string().optional(),
          leeway: zod
            .number()
            .min(0, { error: "must be a number of seconds, 0 or more" })
            .optional()
            .describe("Seconds that clocks may be apart"),
        }),
      answer: (zod) =>
        zod.object({
          valid: zod.boolean(),
          checks: zod.array(zod.object({ name: zod.string(), ok: zod.boolean(), detail: zod.string() })),
          notes: zod.array(zod.string()),
        }),
      run: async (ctx, input) => {
        // A JWT has dots, which neither XML nor base64 begins with.
        if (/^[^.\s<]+\.[^.\s]+\.[^.\s]*$/.test(input.token))
          return (await import("../tokens/read/verify.ts")).verifyToken(ctx, input);
        const { samlTextIn } = await import("../saml/read.ts");
        const xml = samlTextIn(input.token);
        return xml === null
          ? (await import("../tokens/read/verify.ts")).verifyToken(ctx, input)
          : (await import("../saml/verify.ts")).verifySaml(ctx, xml, input);
      },
    },
    { changes: false },
  ),
  "token.introspect": changes(
    "/token/introspect",
    {
      role: "reader",
      summary: "Show whether a token is active (RFC 7662), and if not, why",
      input: (zod) => zod.strictObject({ token: zod.string() }),
      answer: async () => (await import("./schemas/shown.ts")).introspection,
      run: async (ctx, input) => (await import("../tokens/introspect.ts")).introspectToken(ctx, input),
    },
    { changes: false },
  ),
  "token.revoke": changes("/token/revoke", {
    role: "tester",
    summary: "Revoke one token (RFC 7009)",
    input: (zod) => zod.strictObject({ token: zod.string() }),
    answer: (zod) =>
      zod.object({
        revoked: zod
          .enum(["access_token", "refresh_token"])
          .nullable()
          .describe("null: it was unknown or already invalid"),
        client: zod.string().nullable(),
      }),
    run: async (ctx, input) => (await import("../tokens/revoke.ts")).revokeToken(ctx, input),
  }),
};
