import { betterAuth } from "better-auth";
import { fromNodeHeaders, toNodeHandler } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins";
import express from "express";

/** An app with better-auth, its plugin for any provider, and its defaults. Its users are kept in memory. */

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PORT } = process.env;
const baseURL = `http://localhost:${PORT}`;
const provider = {
  providerId: "idp",
  discoveryUrl: `${OIDC_ISSUER}/.well-known/openid-configuration`,
  clientId: OIDC_CLIENT_ID,
  clientSecret: OIDC_CLIENT_SECRET,
  scopes: ["openid", "profile", "email"],
  pkce: true,
};
const auth = betterAuth({
  baseURL,
  secret: "a long secret of the application's own",
  logger: { disabled: true },
  // All sign-ins of the check come from one address.
  rateLimit: { enabled: false },
  plugins: [genericOAuth({ config: [provider] })],
});
const app = express();
app.all("/api/auth/*path", toNodeHandler(auth));
app.get("/login", async (req, res) => {
  const begun = await auth.api.signInSocial({
    body: { provider: "idp", callbackURL: `${baseURL}/me` },
    headers: fromNodeHeaders(req.headers),
    asResponse: true,
  });
  for (const cookie of begun.headers.getSetCookie()) res.append("set-cookie", cookie);
  res.redirect((await begun.json()).url);
});
app.get("/me", async (req, res) => {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(req.headers) });
  if (session === null) res.status(401).end();
  else res.json(session.user);
});
app.listen(Number(PORT), "localhost");
