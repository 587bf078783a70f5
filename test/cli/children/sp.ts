import { createServer } from "node:http";
import { CarefulSp, type SpConfig, type SpNeglect } from "../../helpers/careful-sp.ts";
import { serveApp } from "../../helpers/serve-app.ts";
import { TenantsSp } from "../../helpers/tenants-sp.ts";

/**
 * A service provider for `idp check sp`. Arguments: how it behaves, its port, and what it neglects. `hangs` accepts requests and never responds;
 * `tenants` has two connections.
 */

const [, , mode = "careful", port = "0", ...neglects] = process.argv;

/** @param prefix of its variables: `SAML` or `SAML_2` */
function configOf(prefix: string): SpConfig {
  const value = (name: string): string => process.env[`${prefix}_${name}`] ?? "";
  const certificate = `-----BEGIN CERTIFICATE-----\n${value("IDP_CERT")}\n-----END CERTIFICATE-----\n`;
  return {
    ...{ entityId: value("SP_ENTITY_ID"), acs: value("ACS_URL") },
    idp: { entityId: value("IDP_ENTITY_ID"), sso: value("IDP_SSO_URL"), certificate },
  };
}

if (mode === "hangs") createServer(() => undefined).listen(Number(port), "localhost");
else if (mode === "tenants") {
  const sp = new TenantsSp({
    tenants: [configOf("SAML"), configOf("SAML_2")],
    findsBy: neglects.includes("by-name") ? "name" : "issuer-and-name",
    refusesSecond: neglects.includes("refuses-second"),
  });
  await serveApp(Number(port), () => sp);
} else {
  const sp = new CarefulSp({ ...configOf("SAML"), neglects: neglects as SpNeglect[] });
  await serveApp(Number(port), () => sp);
}
