import { AccountsApp, type FindsBy } from "../../helpers/accounts-app.ts";
import { serveApp } from "../../helpers/serve-app.ts";

/** An app that keeps a text of each user, for `idp check client --mark`. Arguments: its port, and how it finds accounts. */

const [, , port = "0", findsBy = "issuer-and-sub"] = process.argv;
const { OIDC_ISSUER = "", OIDC_CLIENT_ID = "", OIDC_CLIENT_SECRET = "" } = process.env;
const { OIDC_2_ISSUER = "", OIDC_2_CLIENT_ID = "", OIDC_2_CLIENT_SECRET = "" } = process.env;

const app = new AccountsApp({
  connections: {
    one: { issuer: OIDC_ISSUER, clientId: OIDC_CLIENT_ID, clientSecret: OIDC_CLIENT_SECRET },
    two: { issuer: OIDC_2_ISSUER, clientId: OIDC_2_CLIENT_ID, clientSecret: OIDC_2_CLIENT_SECRET },
  },
  url: `http://localhost:${port}`,
  findsBy: findsBy as FindsBy,
});
await serveApp(Number(port), () => app);
