import { anyOrigin } from "../input/cors.ts";
import { formBody } from "../input/bodies.ts";
import type { Route } from "../route.ts";
import type { Web } from "../web.ts";
import { eitherOf } from "./either.ts";
import { getMetadata } from "./metadata.ts";
import { getSlo, postSlo } from "./slo.ts";
import { getSso, getStart, postSso } from "./sso.ts";

/** SAML 2.0. The addresses are those of the issuer, as the metadata has them. */
export function samlRoutes(web: Web): readonly Route[] {
  const { saml } = web.ctx.layout;
  const sso = { kind: "page", name: "saml_sso", body: formBody, get: getSso(web), post: postSso(web) } as const;
  const slo = { kind: "page", name: "saml_slo", body: formBody, get: getSlo(web), post: postSlo(web) } as const;
  // Some vendors have one address for both.
  const both =
    saml.sso === saml.slo
      ? [eitherOf(web, sso, slo, saml.sso)]
      : [
          { ...sso, path: saml.sso },
          { ...slo, path: saml.slo },
        ];
  return [
    { kind: "public", cors: anyOrigin, name: "saml_metadata", path: saml.metadata, get: getMetadata(web) },
    { kind: "page", name: "saml_start", path: saml.start, get: getStart(web) },
    ...both,
  ];
}
