import express from "express";
import { createRemoteJWKSet, jwtVerify } from "jose";

/** An API with jose, as its documentation shows it: issuer and audience, and the rest as it is by default. */

const { OIDC_ISSUER, OIDC_AUDIENCE, OIDC_JWKS_URI, PORT } = process.env;
const keys = createRemoteJWKSet(new URL(OIDC_JWKS_URI));

const app = express();
app.get("/orders", async (req, res) => {
  const token = /^Bearer (.+)$/i.exec(req.headers.authorization ?? "")?.[1];
  if (token === undefined) {
    res.status(401).set("WWW-Authenticate", "Bearer").end();
    return;
  }
  try {
    const { payload } = await jwtVerify(token, keys, { issuer: OIDC_ISSUER, audience: OIDC_AUDIENCE });
    res.json({ sub: payload.sub });
  } catch {
    res.status(401).set("WWW-Authenticate", 'Bearer error="invalid_token"').end();
  }
});
app.listen(Number(PORT), "localhost");
