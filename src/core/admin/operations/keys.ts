import * as z from "zod";
import { declare, none, nothing } from "./operation.ts";
import * as shown from "./schemas/shown.ts";
import { keyAlgs } from "../../records/keys/keys.ts";

/** Signing keys, and what service providers of SAML are configured with. */

const keys = () => import("../../records/keys/admin.ts");

export const keyOperations = {
  "keys.list": declare({
    input: nothing,
    answer: z.array(shown.key),
    run: async (ctx) => (await keys()).listKeys(ctx),
  }),
  "keys.show": declare({
    input: z.strictObject({ id: z.string() }),
    answer: shown.key,
    refuses: [404],
    run: async (ctx, input) => (await keys()).showKey(ctx, input),
  }),
  "keys.rotate": declare({
    input: z
      .strictObject({
        alg: z.enum(keyAlgs).optional(),
        saml: z.boolean().optional().describe("Only the key of SAML, with a new certificate"),
      })
      .refine((input) => input.alg === undefined || input.saml !== true, {
        error: "is given beside alg: give one of them, not both",
        path: ["saml"],
      })
      .meta({ not: { required: ["alg", "saml"], properties: { saml: { const: true } } } }),
    answer: z.array(shown.key),
    run: async (ctx, input) => (await keys()).rotateKeys(ctx, input),
  }),
  "keys.remove": declare({
    input: z.strictObject({ id: z.string() }),
    answer: none,
    refuses: [404, 409],
    run: async (ctx, input) => (await keys()).removeKey(ctx, input),
  }),
  "saml.show": declare({
    input: nothing,
    answer: z.object({
      entity_id: z.string(),
      metadata_url: z.string(),
      sso_url: z.string(),
      slo_url: z.string(),
      certificate: z.string().describe("PEM: of the key that signs"),
    }),
    run: async (ctx) => (await import("../../saml/addresses.ts")).showSaml(ctx),
  }),
};
