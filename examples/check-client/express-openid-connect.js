import express from "express";
import openid from "express-openid-connect";

/** An app with express-openid-connect and its defaults, for the code flow. */

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI, PORT } = process.env;
const app = express();
app.use(
  openid.auth({
    issuerBaseURL: OIDC_ISSUER,
    baseURL: new URL(OIDC_REDIRECT_URI).origin,
    clientID: OIDC_CLIENT_ID,
    clientSecret: OIDC_CLIENT_SECRET,
    secret: "a long secret of the application's own",
    authRequired: false,
    authorizationParams: { response_type: "code", scope: "openid profile email" },
  }),
);
app.get("/", (_req, res) => {
  res.send("home");
});
app.get("/me", (req, res) => {
  if (req.oidc.isAuthenticated()) res.json(req.oidc.user);
  else res.status(401).end();
});
app.use((error, _req, res, _next) => {
  res.status(error.status ?? 500).send(String(error.message));
});
app.listen(Number(PORT), "localhost");
