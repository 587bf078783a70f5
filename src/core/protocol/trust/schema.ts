import * as z from "zod";
import { jwk } from "../client-metadata/schema.ts";
import { endpointUrl, issuerReference } from "../../records/fields.ts";
import { addressProblem } from "../../base/outbound.ts";
import { privateMembers } from "../../records/keys/keys.ts";
import { acceptedKinds, isUrl, type TrustedIssuerSetting } from "./trust.ts";

/** What fixtures may say of other issuers. */

/** `<base>/w/NAME`: if it is a workload of this process, its keys are known. */
const workloadUrl = /\/w\/[A-Za-z0-9_-]{1,64}$/;

/** The rules of {@link trustedIssuerProblems} in JSON Schema. */
const rules = [
  { not: { required: ["jwks", "jwks_uri"] } },
  {
    if: { properties: { issuer: { pattern: ":" } } },
    then: {
      anyOf: [
        { required: ["jwks"] },
        { required: ["jwks_uri"] },
        {
          properties: { issuer: { pattern: workloadUrl.source }, accepts: { const: "workload" } },
          required: ["accepts"],
        },
      ],
    },
    else: { properties: { jwks: false, jwks_uri: false } },
  },
  { anyOf: [{ properties: { accepts: { const: "id-jag" } } }, { properties: { match: false } }] },
];

const trustedIssuer = z
  .strictObject({
    issuer: issuerReference.describe("Its URL; the name of another issuer of the process; or / for the first one"),
    jwks_uri: endpointUrl
      .refine((given) => !URL.canParse(given) || addressProblem(given, "local") === null, {
        error: ({ input }) => `"${String(input)}" cannot be used: ${addressProblem(String(input), "local") ?? ""}`,
      })
      .optional()
      .describe("Where its keys are; not for an issuer of the process"),
    jwks: z
      .strictObject({ keys: z.array(jwk) })
      .optional()
      .describe("Its keys, in place of jwks_uri"),
    accepts: z
      .enum(acceptedKinds)
      .optional()
      .describe("Which of its tokens count: id-jag (default) for users, workload for clients"),
    match: z
      .enum(["email"])
      .optional()
      .describe("email: a verified address finds the user, where no federated entry does"),
  })
  .meta({ allOf: rules });

export const trustedIssuersSchema = z
  .array(trustedIssuer)
  .describe("Other issuers whose ID-JAGs or workload tokens this issuer accepts");

/**
 * The rules between the fields of the entries, each of which is valid.
 * @param own the name of the issuer that has the entries; null: it is not known
 */
export function trustedIssuerProblems(
  entries: readonly TrustedIssuerSetting[],
  own: string | null,
): readonly { readonly index: number; readonly field: keyof TrustedIssuerSetting; readonly message: string }[] {
  return entries.flatMap((entry, index) => {
    const { issuer, jwks, jwks_uri: uri, accepts = "id-jag", match } = entry;
    const problems: { index: number; field: keyof TrustedIssuerSetting; message: string }[] = [];
    const add = (field: keyof TrustedIssuerSetting, message: string): void =>
      void problems.push({ index, field, message });
    const first = entries.findIndex((one) => one.issuer === issuer && (one.accepts ?? "id-jag") === accepts);
    if (first < index)
      add("issuer", `"${issuer}" is in settings.trusted_issuers[${first}] already, with the same accepts`);
    if (issuer === own)
      add("issuer", `"${issuer}" is this issuer itself, and an issuer of the same records is never trusted`);
    if (jwks !== undefined && uri !== undefined) add("jwks_uri", "is given beside jwks; leave one of them out");
    if (!isUrl(issuer)) {
      for (const field of ["jwks", "jwks_uri"] as const) {
        if (entry[field] !== undefined)
          add(field, `must be left out: "${issuer}" is an issuer of this process, whose keys are known`);
      }
    } else if (jwks === undefined && uri === undefined && !(accepts === "workload" && workloadUrl.test(issuer))) {
      add("issuer", `"${issuer}" needs jwks_uri or jwks, with the keys that sign its tokens`);
    }
    if (jwks?.keys.some((key) => privateMembers.some((member) => Object.hasOwn(key, member))) === true)
      add("jwks", "holds a private or secret key; list public keys only");
    if (match !== undefined && accepts === "workload")
      add("match", "is for accepts: id-jag; a workload token speaks for a client, not for a user");
    return problems;
  });
}
