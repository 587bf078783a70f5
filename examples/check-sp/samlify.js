import express from "express";
import session from "express-session";
import * as samlify from "samlify";

/** An app with samlify, as its documentation shows it. */

const { SAML_SP_ENTITY_ID, SAML_ACS_URL, SAML_IDP_METADATA_URL, PORT } = process.env;
samlify.setSchemaValidator({ validate: async () => "not validated" });
const metadata = await (await fetch(SAML_IDP_METADATA_URL)).text();
const provider = samlify.IdentityProvider({ metadata });
const self = samlify.ServiceProvider({
  entityID: SAML_SP_ENTITY_ID,
  assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: SAML_ACS_URL }],
});

const app = express();
const secret = "a long secret of the application's own";
app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
app.use(express.urlencoded({ extended: false }));
app.get("/login", (_req, res) => {
  res.redirect(self.createLoginRequest(provider, "redirect").context);
});
app.post("/acs", async (req, res) => {
  const { extract } = await self.parseLoginResponse(provider, "post", { body: req.body });
  req.session.user = { name: extract.nameID, email: extract.attributes?.email };
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
