import { changes, creates, none, nothing, reads, removes } from "./operation.ts";

/** Signing keys, and what service providers of SAML are configured with. */

const keys = () => import("../keys/admin.ts");
const key = async () => (await import("./schemas/shown.ts")).key;

export const keyOperations = {
  "keys.list": reads(
    "/keys",
    {
      summary: "List keys",
      input: nothing,
      answer: async (zod) => zod.array(await key()),
      run: async (ctx) => (await keys()).listKeys(ctx),
    },
    { changes: true },
  ),
  "keys.show": reads("/keys/:id", {
    summary: "Show a key, by its kid",
    input: (zod) => zod.strictObject({ id: zod.string() }),
    answer: key,
    refuses: [404],
    run: async (ctx, input) => (await keys()).showKey(ctx, input),
  }),
  "keys.rotate": changes(
    "/keys",
    {
      summary: "Create new signing keys; old ones still verify what they signed",
      input: async (zod) =>
        zod
          .strictObject({
            alg: zod.enum((await import("../keys/keys.ts")).keyAlgs).optional(),
            saml: zod.boolean().optional().describe("Only the key of SAML, with a new certificate"),
          })
          .refine((input) => input.alg === undefined || input.saml !== true, {
            error: "is given beside alg: give one of them, not both",
            path: ["saml"],
          })
          .meta({ not: { required: ["alg", "saml"], properties: { saml: { const: true } } } }),
      answer: async (zod) => zod.array(await key()),
      run: async (ctx, input) => (await keys()).rotateKeys(ctx, input),
    },
    creates,
  ),
  "keys.remove": changes(
    "/keys/:id",
    {
      summary: "Remove a retired key at once: what it signed becomes invalid",
      input: (zod) => zod.strictObject({ id: zod.string() }),
      answer: none,
      refuses: [404, 409],
      run: async (ctx, input) => (await keys()).removeKey(ctx, input),
    },
    removes,
  ),
  "saml.show": reads(
    "/saml",
    {
      summary: "Show what service providers of SAML are configured with; the key is made if there is none yet",
      input: nothing,
      answer: (zod) =>
        zod.object({
          entity_id: zod.string(),
          metadata_url: zod.string(),
          sso_url: zod.string(),
          slo_url: zod.string(),
          certificate: zod.string().describe("PEM: of the key that signs"),
        }),
      run: async (ctx) => (await import("../saml/addresses.ts")).showSaml(ctx),
    },
    { changes: true },
  ),
};
