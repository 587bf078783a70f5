import { changes, creates } from "./operation.ts";
import { noFlawsTogether, refuseFlawsTogether, tokenFlawFields } from "./schemas/token-flaws.ts";

/** Single tokens. */

export const tokenOperations = {
  "token.issue": changes(
    "/token/issue",
    {
      role: "tester",
      summary: "Issue one token, as the flow would, or bad on purpose",
      note: "No token lives longer than the settings let one live: 409.",
      input: async (zod) => {
        const { tokenKinds } = await import("../controls/custom.ts");
        const { tenYears } = await import("../time.ts");
        const { ownTokenClaims, whole } = await import("./schemas/given.ts");
        return zod
          .strictObject({
            user: zod.string().optional(),
            client: zod.string(),
            scope: zod.string().optional(),
            type: zod.enum(tokenKinds).optional(),
            audience: zod.string().optional(),
            expires_in: whole(1, tenYears).optional().describe("Seconds"),
            claims: ownTokenClaims.optional(),
            dpop_jkt: zod
              .string()
              .regex(/^[\w-]{43}$/, { error: "is not a SHA-256 thumbprint of 43 characters (RFC 7638)" })
              .optional()
              .describe("For an access token alone (RFC 9449 6.1)"),
            ...tokenFlawFields(zod),
          })
          .superRefine((input, issues) => {
            const add = (field: string, message: string): void =>
              issues.addIssue({ code: "custom", path: [field], message });
            refuseFlawsTogether(input, add);
            const { user, type = "access", claims = {} } = input;
            for (const field of ["audience", "wrong_audience", "missing_audience", "audience_contains"] as const) {
              if (type === "refresh" && input[field] !== undefined && input[field] !== false)
                add(field, "is not for a refresh token: that is for this server alone");
            }
            if (type !== "access" && input.dpop_jkt !== undefined)
              add("dpop_jkt", "is for an access token alone (RFC 9449 6)");
            if (type === "refresh" && Object.keys(claims).length > 0)
              add("claims", "are not for a refresh token: only this server reads it");
            if (user === undefined && type !== "access")
              add("type", "must be access for a client without a user (RFC 6749 4.4.3)");
          })
          .meta({
            allOf: [
              ...noFlawsTogether,
              { anyOf: [{ properties: { dpop_jkt: false } }, { properties: { type: { const: "access" } } }] },
              // A refresh token is for this server alone: it has no audience and takes no claims.
              {
                anyOf: [
                  { properties: { type: { enum: ["access", "id"] } } },
                  {
                    properties: {
                      audience: false,
                      wrong_audience: { const: false },
                      missing_audience: { const: false },
                      audience_contains: { const: false },
                      claims: { maxProperties: 0 },
                    },
                  },
                ],
              },
              // A client that speaks for itself has access tokens only (RFC 6749 4.4.3).
              { anyOf: [{ required: ["user"] }, { properties: { type: { const: "access" } } }] },
            ],
          });
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
