import { parseCookie } from "cookie";
import express from "express";
import nextAuth from "next-auth";

/** An app with next-auth 4 and its defaults. Express takes the place of Next.js. `--start` is its own page, which has one button. */

const { default: NextAuth, getServerSession } = nextAuth;
const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, PORT } = process.env;
const config = {
  secret: "a long secret of the application's own",
  logger: { error: () => undefined, warn: () => undefined },
  providers: [
    {
      id: "idp",
      name: "idp",
      type: "oauth",
      wellKnown: `${OIDC_ISSUER}/.well-known/openid-configuration`,
      idToken: true,
      clientId: OIDC_CLIENT_ID,
      clientSecret: OIDC_CLIENT_SECRET,
      profile: ({ sub, name, email }) => ({ id: sub, name, email }),
    },
  ],
};
process.env.NEXTAUTH_URL = `http://localhost:${PORT}`;

const app = express();
// What Next.js makes of a request to pages/api/auth/[...nextauth].
app.use(express.urlencoded(), (req, _res, next) => {
  const query = { ...req.query, nextauth: req.path.replace("/api/auth/", "").split("/") };
  Object.defineProperties(req, {
    query: { value: query },
    cookies: { value: parseCookie(req.headers.cookie ?? "") },
  });
  next();
});
app.all("/api/auth/*path", (req, res) => NextAuth(req, res, config));
app.get("/", (_req, res) => {
  res.send("home");
});
app.get("/me", async (req, res) => {
  const session = await getServerSession(req, res, config);
  if (session === null) res.status(401).end();
  else res.json(session);
});
app.listen(Number(PORT), "localhost");
