import OktaJwtVerifier from "@okta/jwt-verifier";
import express from "express";

/** An API with @okta/jwt-verifier, as its documentation shows it. It reads the keys below the issuer, unless jwksUri names them. */

const { OIDC_ISSUER, OIDC_AUDIENCE, OIDC_JWKS_URI, PORT } = process.env;
const verifier = new OktaJwtVerifier({
  issuer: OIDC_ISSUER,
  jwksUri: OIDC_JWKS_URI,
  testing: { disableHttpsCheck: true },
});

const app = express();
app.get("/orders", async (req, res) => {
  const token = /^Bearer (.+)$/i.exec(req.headers.authorization ?? "")?.[1];
  if (token === undefined) {
    res.status(401).set("WWW-Authenticate", "Bearer").end();
    return;
  }
  try {
    const { claims } = await verifier.verifyAccessToken(token, OIDC_AUDIENCE);
    res.json({ sub: claims.sub });
  } catch {
    res.status(401).set("WWW-Authenticate", 'Bearer error="invalid_token"').end();
  }
});
app.listen(Number(PORT), "localhost");
