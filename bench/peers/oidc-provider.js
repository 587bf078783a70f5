// node-oidc-provider with an adapter of Maps, set up as its documentation shows: a page for login and one for consent, refresh tokens
// that rotate, an ID token signed with RS256.
import { generateKeyPairSync } from "node:crypto";
import { URLSearchParams } from "node:url";
import Provider from "oidc-provider";

const [port, clientCount] = process.argv.slice(2).map(Number);

const records = new Map();
const byUid = new Map();
const byGrant = new Map();
const grantable = new Set(["AccessToken", "AuthorizationCode", "RefreshToken"]);

class MapAdapter {
  constructor(model) {
    this.model = model;
  }
  key(id) {
    return `${this.model}:${id}`;
  }
  async upsert(id, payload) {
    const key = this.key(id);
    records.set(key, payload);
    if (payload.uid !== undefined) byUid.set(payload.uid, id);
    if (payload.grantId === undefined || !grantable.has(this.model)) return;
    const keys = byGrant.get(payload.grantId);
    if (keys === undefined) byGrant.set(payload.grantId, new Set([key]));
    else keys.add(key);
  }
  async find(id) {
    return records.get(this.key(id));
  }
  async findByUid(uid) {
    return this.find(byUid.get(uid));
  }
  async findByUserCode() {
    return undefined;
  }
  async consume(id) {
    records.get(this.key(id)).consumed = Math.floor(Date.now() / 1000);
  }
  async destroy(id) {
    const payload = records.get(this.key(id));
    records.delete(this.key(id));
    if (payload?.uid !== undefined) byUid.delete(payload.uid);
  }
  async revokeByGrantId(grantId) {
    for (const key of byGrant.get(grantId) ?? []) records.delete(key);
    byGrant.delete(grantId);
  }
}

const client = (client_id) => ({
  client_id,
  client_secret: "bench-secret",
  redirect_uris: ["http://localhost:3000/callback"],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "client_secret_post",
});
const key = { kid: "key", alg: "RS256", use: "sig" };

const provider = new Provider(`http://localhost:${port}`, {
  adapter: MapAdapter,
  clients: [client("app"), ...Array.from({ length: clientCount }, (_, index) => client(`app${index}`))],
  jwks: {
    keys: [{ ...generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" }), ...key }],
  },
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "preferred_username"] },
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false }, introspection: { enabled: true } },
  pkce: { required: () => false },
  issueRefreshToken: () => true,
  rotateRefreshToken: true,
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  findAccount: (_ctx, accountId) => ({
    accountId,
    claims: () => ({
      sub: accountId,
      email: `${accountId}@example.com`,
      email_verified: true,
      name: accountId,
      preferred_username: accountId,
    }),
  }),
});

async function form(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return new URLSearchParams(text);
}

async function consent({ grantId, params, session }) {
  const grant =
    grantId === undefined
      ? new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
      : await provider.Grant.find(grantId);
  grant.addOIDCScope(params.scope);
  return { consent: { grantId: await grant.save() } };
}

provider.use(async (ctx, next) => {
  if (!ctx.path.startsWith("/interaction/")) return next();
  const details = await provider.interactionDetails(ctx.req, ctx.res);
  if (ctx.method === "GET") {
    ctx.type = "html";
    ctx.body = `<form method="post" data-prompt="${details.prompt.name}"><button>${details.params.client_id}</button></form>`;
    return undefined;
  }
  const sent = await form(ctx.req);
  const result =
    details.prompt.name === "login" ? { login: { accountId: sent.get("username") } } : await consent(details);
  ctx.respond = false;
  return provider.interactionFinished(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
});

provider.listen(port, "127.0.0.1");
