import express from "express";
import session from "express-session";
import passport from "passport";
import { Strategy } from "passport-openidconnect";

/** An app with passport-openidconnect and its defaults. It knows no discovery, so the app reads the endpoints. */

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI, PORT } = process.env;
const metadata = await (await fetch(`${OIDC_ISSUER}/.well-known/openid-configuration`)).json();
if (metadata.issuer !== OIDC_ISSUER) throw new Error(`the metadata names the issuer ${metadata.issuer}`);
passport.use(
  new Strategy(
    {
      issuer: OIDC_ISSUER,
      authorizationURL: metadata.authorization_endpoint,
      tokenURL: metadata.token_endpoint,
      userInfoURL: metadata.userinfo_endpoint,
      clientID: OIDC_CLIENT_ID,
      clientSecret: OIDC_CLIENT_SECRET,
      callbackURL: OIDC_REDIRECT_URI,
      scope: ["profile", "email"],
    },
    (_issuer, profile, done) => done(null, profile),
  ),
);
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.use(
  session({
    secret: "a long secret of the application's own",
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: "lax" },
  }),
);
app.use(passport.session());
app.get("/login", passport.authenticate("openidconnect"));
app.get("/callback", passport.authenticate("openidconnect", { successRedirect: "/me", failureRedirect: "/failed" }));
app.get("/failed", (_req, res) => {
  res.status(401).send("The sign-in failed.");
});
app.get("/me", (req, res) => {
  if (req.user === undefined) res.status(401).end();
  else res.json(req.user);
});
app.use((error, _req, res, _next) => {
  res.status(error.status ?? 500).send(String(error.message));
});
app.listen(Number(PORT), "localhost");
