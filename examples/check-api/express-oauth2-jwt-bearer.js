import express from "express";
import { auth } from "express-oauth2-jwt-bearer";

/** An API with express-oauth2-jwt-bearer, as its documentation shows it. */

const { OIDC_ISSUER, OIDC_AUDIENCE, PORT } = process.env;

const app = express();
app.use(auth({ issuerBaseURL: OIDC_ISSUER, audience: OIDC_AUDIENCE }));
app.get("/orders", (req, res) => {
  res.json({ sub: req.auth.payload.sub });
});
app.listen(Number(PORT), "localhost");
