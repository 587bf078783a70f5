import { join } from "node:path";
import express from "express";

/** A single-page app with oidc-client-ts, as its documentation shows it. What it signs in with is in the page. */

const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_REDIRECT_URI, PORT } = process.env;
const settings = {
  authority: OIDC_ISSUER,
  client_id: OIDC_CLIENT_ID,
  redirect_uri: OIDC_REDIRECT_URI,
  scope: "openid profile email",
};

const app = express();
const library = join(import.meta.dirname, "../../node_modules/oidc-client-ts/dist/browser");
app.use("/oidc-client-ts", express.static(library));
app.use((_req, res) => {
  res.send(`<!doctype html><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,"><p>Welcome
<script src="/oidc-client-ts/oidc-client-ts.min.js"></script>
<script type="module">
  const manager = new oidc.UserManager(${JSON.stringify(settings)});
  if (location.pathname === "/login") await manager.signinRedirect();
  if (location.pathname === "/callback") await manager.signinRedirectCallback();
  const user = await manager.getUser();
  if (user !== null && !user.expired) document.querySelector("p").textContent = "Signed in";
</script>`);
});
app.listen(Number(PORT), "localhost");
