import { createServer } from "node:http";
import { CarefulSp, type SpNeglect } from "../../helpers/careful-sp.ts";
import { serveApp } from "../../helpers/serve-app.ts";

/** A service provider for `idp check sp`. Arguments: how it behaves, its port, and what it neglects. `hangs` accepts requests and never responds. */

const [, , mode = "careful", port = "0", ...neglects] = process.argv;
const { SAML_IDP_ENTITY_ID = "", SAML_IDP_SSO_URL = "", SAML_IDP_CERT = "" } = process.env;
const { SAML_SP_ENTITY_ID = "", SAML_ACS_URL = "" } = process.env;

if (mode === "hangs") createServer(() => undefined).listen(Number(port), "localhost");
else {
  const certificate = `-----BEGIN CERTIFICATE-----\n${SAML_IDP_CERT}\n-----END CERTIFICATE-----\n`;
  const sp = new CarefulSp({
    ...{ entityId: SAML_SP_ENTITY_ID, acs: SAML_ACS_URL, neglects: neglects as SpNeglect[] },
    idp: { entityId: SAML_IDP_ENTITY_ID, sso: SAML_IDP_SSO_URL, certificate },
  });
  await serveApp(Number(port), () => sp);
}
