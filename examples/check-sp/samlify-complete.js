import express from "express";
import session from "express-session";
import samlify from "samlify";

/** An app with samlify that also does what the library leaves to it. */

const { SAML_SP_ENTITY_ID, SAML_ACS_URL, SAML_IDP_METADATA_URL, PORT } = process.env;
samlify.setSchemaValidator({ validate: async () => "not validated" });
const metadata = await (await fetch(SAML_IDP_METADATA_URL)).text();
const provider = samlify.IdentityProvider({ metadata });
const self = samlify.ServiceProvider({
  entityID: SAML_SP_ENTITY_ID,
  assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: SAML_ACS_URL }],
});

const confirmation = ["Assertion", "Subject", "SubjectConfirmation"];
const fields = [
  { key: "method", localPath: confirmation, attributes: ["Method"] },
  {
    key: "data",
    localPath: [...confirmation, "SubjectConfirmationData"],
    attributes: ["Recipient", "InResponseTo", "NotOnOrAfter"],
  },
  { key: "audience", localPath: ["Assertion", "Conditions", "AudienceRestriction", "Audience"], attributes: [] },
];

/** What samlify does not look at, read from the element that the signature covers. */
function isForUs(samlContent, requestId) {
  const [, assertion] = samlify.SamlLib.verifySignature(samlContent, { metadata: provider.entityMeta });
  const { method, data, audience } = samlify.Extractor.extract(assertion, fields);
  return (
    audience === SAML_SP_ENTITY_ID &&
    method === "urn:oasis:names:tc:SAML:2.0:cm:bearer" &&
    data?.recipient === SAML_ACS_URL &&
    Date.parse(data.notOnOrAfter) > Date.now() &&
    requestId !== undefined &&
    data.inResponseTo === requestId
  );
}

const app = express();
const secret = "a long secret of the application's own";
app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
app.use(express.urlencoded({ extended: false }));
// The answer comes from another site, to which a browser gives no cookie with SameSite=Lax.
const crossSite = { httpOnly: true, secure: true, sameSite: "none", path: "/acs" };
app.get("/login", (_req, res) => {
  const { id, context } = self.createLoginRequest(provider, "redirect");
  res.cookie("saml_request", id, crossSite);
  res.redirect(context);
});
app.post("/acs", async (req, res) => {
  const [, request] = /(?:^|; )saml_request=([\w-]+)/.exec(req.headers.cookie ?? "") ?? [];
  // Each answer is taken once.
  res.clearCookie("saml_request", crossSite);
  const { extract, samlContent } = await self.parseLoginResponse(provider, "post", { body: req.body });
  if (!isForUs(samlContent, request)) throw new Error("not for this app, or not asked for by this browser");
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
