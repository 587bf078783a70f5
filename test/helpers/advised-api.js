import { Buffer } from "node:buffer";
import { createPublicKey } from "node:crypto";
import express from "express";
import jsonwebtoken from "jsonwebtoken";
import jsonwebtoken8 from "jsonwebtoken-8.5.1";
import jwtSimple from "jwt-simple";
import jwtSimple052 from "jwt-simple-0.5.2";

/** An API that verifies tokens in the way that a published advisory describes. Its argument names the library. */

const { OIDC_JWKS_URI, PORT } = process.env;

const pemOf = (key) => createPublicKey({ key, format: "jwk" }).export({ type: "spki", format: "pem" });
const kidOf = (token) => JSON.parse(Buffer.from(token.split(".")[0], "base64url").toString()).kid;

/** CVE-2016-10555: without an algorithm, `decode` takes the one that the token names. */
const decode = (library) => (token, keys) => library.decode(token, pemOf(keys[0]));

/** CVE-2022-23540: without algorithms, and without a key where none has the token's `kid`. */
const verify = (library) => (token, keys) => {
  const key = keys.find(({ kid }) => kid === kidOf(token));
  return library.verify(token, key && pemOf(key));
};

const check = {
  "jwt-simple 0.5.2": decode(jwtSimple052),
  "jwt-simple 0.5.6": decode(jwtSimple),
  "jsonwebtoken 8.5.1": verify(jsonwebtoken8),
  "jsonwebtoken 9": verify(jsonwebtoken),
}[process.argv[2]];

const app = express();
app.get("/orders", async (req, res) => {
  const token = /^Bearer (.+)$/i.exec(req.headers.authorization ?? "")?.[1] ?? "";
  const { keys } = await (await fetch(OIDC_JWKS_URI)).json();
  try {
    check(token, keys);
    res.json({});
  } catch {
    res.status(401).set("WWW-Authenticate", 'Bearer error="invalid_token"').end();
  }
});
app.listen(Number(PORT), "localhost");
