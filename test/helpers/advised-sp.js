import express from "express";
import session from "express-session";
import { SAML } from "@node-saml/passport-saml";
import { SAML as OldSaml } from "node-saml-5.0.0";
import * as samlify from "samlify";
import * as oldSamlify from "samlify-2.9.1";

/** A service provider with one version of a library, which its argument names. */

const { SAML_SP_ENTITY_ID, SAML_ACS_URL, SAML_IDP_METADATA_URL, SAML_IDP_SSO_URL, SAML_IDP_CERT, PORT } = process.env;

function nodeSaml(Library) {
  const saml = new Library({
    ...{ issuer: SAML_SP_ENTITY_ID, callbackUrl: SAML_ACS_URL, audience: SAML_SP_ENTITY_ID },
    ...{ entryPoint: SAML_IDP_SSO_URL, idpCert: SAML_IDP_CERT, wantAuthnResponseSigned: false },
  });
  return {
    begin: () => saml.getAuthorizeUrlAsync("", undefined, {}),
    end: async (body) => (await saml.validatePostResponseAsync(body)).profile.nameID,
  };
}

async function withSamlify(library) {
  library.setSchemaValidator({ validate: async () => "not validated" });
  const provider = library.IdentityProvider({ metadata: await (await fetch(SAML_IDP_METADATA_URL)).text() });
  const self = library.ServiceProvider({
    entityID: SAML_SP_ENTITY_ID,
    assertionConsumerService: [{ Binding: library.Constants.namespace.binding.post, Location: SAML_ACS_URL }],
  });
  return {
    begin: async () => self.createLoginRequest(provider, "redirect").context,
    end: async (body) => (await self.parseLoginResponse(provider, "post", { body })).extract.nameID,
  };
}

const libraries = {
  "node-saml 5.0.0": () => nodeSaml(OldSaml),
  "node-saml 5.1.0": () => nodeSaml(SAML),
  "samlify 2.9.1": () => withSamlify(oldSamlify),
  "samlify 2.13.1": () => withSamlify(samlify),
};
const { begin, end } = await libraries[process.argv[2]]();

const app = express();
app.use(session({ secret: "a long secret of the test's own", resave: false, saveUninitialized: false }));
app.use(express.urlencoded({ extended: false }));
app.get("/login", async (_req, res) => {
  res.redirect(await begin());
});
app.post("/acs", async (req, res) => {
  req.session.user = await end(req.body);
  res.redirect("/me");
});
app.get("/me", (req, res) => {
  if (req.session.user === undefined) res.status(401).end();
  else res.json(req.session.user);
});
app.use((error, _req, res, _next) => {
  res.status(403).send(String(error?.message ?? error));
});
app.listen(Number(PORT), "localhost");
