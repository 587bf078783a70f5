import { nothing, reads } from "./operation.ts";

/** SAML: this identity provider, as service providers are configured with it. */

export const samlOperations = {
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
