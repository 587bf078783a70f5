import { ExpressAuth, getSession } from "@auth/express";
import express from "express";

/** An app with Auth.js and its defaults. `--start` is its own page, which has one button. */

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PORT } = process.env;
const config = {
  secret: "a long secret of the application's own",
  trustHost: true,
  logger: { error: () => undefined, warn: () => undefined },
  providers: [
    {
      id: "idp",
      name: "idp",
      type: "oidc",
      issuer: OIDC_ISSUER,
      clientId: OIDC_CLIENT_ID,
      clientSecret: OIDC_CLIENT_SECRET,
    },
  ],
};
const app = express();
app.use("/auth", ExpressAuth(config));
app.get("/", (_req, res) => {
  res.send("home");
});
app.get("/me", async (req, res) => {
  const session = await getSession(req, config);
  if (session === null) res.status(401).end();
  else res.json(session);
});
app.listen(Number(PORT), "localhost");
