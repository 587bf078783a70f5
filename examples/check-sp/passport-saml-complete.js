import { randomUUID } from "node:crypto";
import express from "express";
import session from "express-session";
import passport from "passport";
import { Strategy } from "@node-saml/passport-saml";

/** An app with passport-saml that also does what the library leaves to it. */

const { SAML_SP_ENTITY_ID, SAML_ACS_URL, SAML_IDP_SSO_URL, SAML_IDP_CERT, SAML_IDP_ENTITY_ID, PORT } = process.env;
const userOf = ({ nameID: name, email, sessionIndex }) => ({ name, email, sessionIndex });

/** What passport-saml does not look at: issuer, the status beside an assertion, and the confirmation of the subject. */
function isForUs(profile) {
  const [, status] = /<(?:\w+:)?StatusCode\b[^>]*?\sValue="([^"]*)"/.exec(profile.getSamlResponseXml()) ?? [];
  const [confirmation, ...others] = profile.getAssertion().Assertion.Subject[0].SubjectConfirmation ?? [];
  const [data] = confirmation?.SubjectConfirmationData ?? [];
  return (
    profile.issuer === SAML_IDP_ENTITY_ID &&
    status === "urn:oasis:names:tc:SAML:2.0:status:Success" &&
    others.length === 0 &&
    confirmation?.$.Method === "urn:oasis:names:tc:SAML:2.0:cm:bearer" &&
    data?.$.Recipient === SAML_ACS_URL
  );
}

passport.use(
  new Strategy(
    {
      issuer: SAML_SP_ENTITY_ID,
      callbackUrl: SAML_ACS_URL,
      audience: SAML_SP_ENTITY_ID,
      entryPoint: SAML_IDP_SSO_URL,
      idpCert: SAML_IDP_CERT,
      idpIssuer: SAML_IDP_ENTITY_ID,
      validateInResponseTo: "always",
      wantAssertionsSigned: true,
      wantAuthnResponseSigned: false,
      passReqToCallback: true,
    },
    (_req, profile, done) => (isForUs(profile) ? done(null, userOf(profile)) : done(new Error("not for this app"))),
    // Only the session that the LogoutRequest names.
    (req, profile, done) =>
      req.user?.name === profile.nameID && req.user.sessionIndex === profile.sessionIndex
        ? done(null, req.user)
        : done(new Error("no such session")),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
const secret = "a long secret of the application's own";
app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
app.use(passport.session());
app.use(express.urlencoded({ extended: false }));

// RelayState binds the answer to this browser: the cache of the library is for all browsers. The answer comes from another site, to which a
// browser gives no cookie with SameSite=Lax.
const crossSite = { httpOnly: true, secure: true, sameSite: "none", path: "/acs" };
function begin(req, res, next) {
  const state = randomUUID();
  res.cookie("saml_state", state, crossSite);
  req.body = { RelayState: state };
  next();
}
function end(req, res, next) {
  const [, state] = /(?:^|; )saml_state=([\w-]+)/.exec(req.headers.cookie ?? "") ?? [];
  res.clearCookie("saml_state", crossSite);
  next(state !== undefined && req.body.RelayState === state ? undefined : new Error("not asked for by this browser"));
}
// passport-saml verifies the signature of an address only where there is one.
const signed = (req, _res, next) =>
  next(req.method === "POST" || "Signature" in req.query ? undefined : new Error("not signed"));

app.get("/login", begin, passport.authenticate("saml"));
app.post("/acs", end, passport.authenticate("saml", { successRedirect: "/me" }));
app.all("/slo", signed, passport.authenticate("saml"));
app.get("/me", (req, res) => {
  if (req.user === undefined) res.status(401).end();
  else res.json(req.user);
});
app.use((error, _req, res, _next) => {
  res.status(403).send(String(error.message));
});
app.listen(Number(PORT), "localhost");
