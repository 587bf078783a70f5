import express from "express";
import session from "express-session";
import passport from "passport";
import { Strategy } from "@node-saml/passport-saml";

/** An app with passport-saml and its options: what is signed, audience, issuer, and InResponseTo. */

const { SAML_SP_ENTITY_ID, SAML_ACS_URL, SAML_IDP_SSO_URL, SAML_IDP_CERT, SAML_IDP_ENTITY_ID, PORT } = process.env;
const userOf = ({ nameID: name, email }) => ({ name, email });
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
    },
    (profile, done) => done(null, userOf(profile)),
    (profile, done) => done(null, userOf(profile)),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
const secret = "a long secret of the application's own";
app.use(session({ secret, resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));
app.use(passport.session());
app.use(express.urlencoded({ extended: false }));
app.get("/login", passport.authenticate("saml"));
app.post("/acs", passport.authenticate("saml", { successRedirect: "/me" }));
app.all("/slo", passport.authenticate("saml"));
app.get("/me", (req, res) => {
  if (req.user === undefined) res.status(401).end();
  else res.json(req.user);
});
app.use((error, _req, res, _next) => {
  res.status(error.status ?? 500).send(String(error.message));
});
app.listen(Number(PORT), "localhost");
