import { SignJWT } from "jose";
import { builtInDemo } from "../../../src/serve/fixture-files.ts";
import { register, serve } from "../../helpers/app.ts";
import { Browser } from "../../helpers/browser.ts";
import { authorizeUrl, callback, jwtPart, paths, pkce, type Parameters } from "../../helpers/client.ts";
import { testClock } from "../../helpers/clock.ts";
import { partner, partnerIdJag, partnerKeys } from "../../helpers/cross-app.ts";
import { newProofKey, tokenHash } from "../../helpers/dpop.ts";

/** What the refusals of the table need: a server, clients of each kind, and requests that can be bent. */

/** Sends one request that is refused; the last one of several. */
export type Cases = Readonly<Record<string, () => Promise<unknown>>>;

export const exchangeType = "urn:ietf:params:oauth:grant-type:token-exchange";
export const deviceType = "urn:ietf:params:oauth:grant-type:device_code";
export const bearerType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
const otpSecret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const assertionSecret = "a secret of 32 bytes or more, for HS256 and the like";

export async function startWorld() {
  const clock = testClock();
  const idp = await serve({ now: clock.now, dynamicRegistration: true, fixtures: [builtInDemo()] });
  await idp.call("seed", {
    users: [
      { username: "erin", password: "erin", factors: ["otp"], otp_secret: otpSecret },
      { username: "nora", password: "nora" },
      { username: "sue", status: "suspended" },
    ],
    workloads: { shop: { as: "github-actions", claims: { repository: "acme/shop" } } },
    settings: {
      acr: { "urn:mfa": ["pwd", "otp"] },
      trusted_issuers: [{ issuer: partner, jwks: partnerKeys }],
    },
  });
  const app = await register(idp, {
    client_id: "app",
    grant_types: ["authorization_code", "refresh_token", "client_credentials", exchangeType, deviceType, bearerType],
    id_jag_audiences: [{ issuer: "https://elsewhere.test" }],
    post_logout_redirect_uris: ["http://localhost:3000/bye"],
  });
  const spa = await register(idp, { client_id: "spa", token_endpoint_auth_method: "none" });
  await register(idp, { client_id: "pushes", require_pushed_authorization_requests: true });
  await register(idp, { client_id: "machine", grant_types: ["client_credentials"], redirect_uris: [] });
  await register(idp, { client_id: "bound", dpop_bound_access_tokens: true });
  await register(idp, {
    ...{ client_id: "signer", client_secret: assertionSecret, grant_types: ["client_credentials"], redirect_uris: [] },
    token_endpoint_auth_method: "client_secret_jwt",
  });
  const { token: ofWorkload } = await idp.call("workloads.issue", { name: "shop", audience: idp.issuer });
  const subject = String(jwtPart(ofWorkload, 1)["sub"]);
  await register(idp, {
    ...{ client_id: "deploy", grant_types: ["client_credentials"], redirect_uris: [] },
    federated_credentials: [{ issuer: `${idp.issuer}/w/shop`, subject, audience: idp.issuer }],
  });
  const key = await newProofKey("ES256", clock.now);
  const other = await newProofKey("ES256", clock.now);
  const tokenUrl = idp.issuer + paths.token;

  const fields = (body: Parameters): URLSearchParams =>
    new URLSearchParams(Object.entries(body).filter((entry): entry is [string, string] => entry[1] !== null));
  /** A POST of the client "app"; null leaves a parameter out. */
  const post = (path: string, body: Parameters, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(idp.issuer + path, { method: "POST", headers, body: fields({ ...app.credentials, ...body }) });
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(idp.issuer + path, { headers, redirect: "manual" });

  return {
    ...{ idp, clock, app, spa, key, other, tokenUrl, post, get },
    browser: (): Browser => new Browser(idp.issuer),
    authorize: (change: Parameters = {}) => get(authorizeUrl(idp, change).slice(idp.issuer.length)),
    token: (body: Parameters, headers: Record<string, string> = {}) => post(paths.token, body, headers),
    userinfo: (headers: Record<string, string>) => get(paths.userinfo, headers),
    exchange: (code: string, change: Parameters = {}) =>
      post(paths.token, { grant_type: "authorization_code", code, redirect_uri: callback, ...change }),
    code: async (change: object = {}) => (await idp.issueCode({ user: "alice", client: "app", ...change })).code,
    tokens: (change: object = {}) => idp.issueTokens({ user: "alice", client: "app", ...change }),
    /** A code of the client "spa", which has PKCE. */
    spaCode: async () =>
      (await spa.signIn({ code_challenge: pkce("v".repeat(43)).challenge, code_challenge_method: "S256" })).code,
    proof: (claims: object = {}, header: object = {}) => key.prove(tokenUrl, { ...claims }, { ...header }),
    /** An access token that is bound to the key, and a proof for UserInfo. */
    bound: async () => {
      const response = await post(
        paths.token,
        { grant_type: "client_credentials" },
        { dpop: await key.prove(tokenUrl) },
      );
      return ((await response.json()) as { access_token: string }).access_token;
    },
    proofFor: (token: string, by = key) => by.prove(idp.issuer + paths.userinfo, { htm: "GET", ath: tokenHash(token) }),
    /** A request of the client "signer", with what it says of itself. */
    assert: async (claims: object = {}, signedWith = assertionSecret) => {
      const now = Math.floor(Date.parse("2026-01-15T12:00:00.000Z") / 1000);
      const client_assertion = await new SignJWT({
        ...{
          iss: "signer",
          sub: "signer",
          aud: idp.issuer,
          iat: now,
          exp: now + 600,
          jti: crypto.randomUUID(),
          ...claims,
        },
      })
        .setProtectedHeader({ alg: "HS256" })
        .sign(new TextEncoder().encode(signedWith));
      const sent = { client_assertion, client_assertion_type: assertionType, client_id: null, client_secret: null };
      return post(paths.token, { grant_type: "client_credentials", ...sent });
    },
    /** A request of the client "deploy", with the token of its workload, which was issued at the start. */
    deploy: (client_assertion = ofWorkload) =>
      post(paths.token, {
        ...{ grant_type: "client_credentials", client_id: "deploy", client_secret: null },
        ...{ client_assertion, client_assertion_type: assertionType },
      }),
    /** An ID-JAG of the partner, sent by "app". */
    idJag: async (claims: object = {}, header: object = {}) => {
      const now = Math.floor(clock.now() / 1000);
      const own = { aud: idp.issuer, client_id: "app", iat: now, exp: now + 300 };
      const assertion = await partnerIdJag(idp, { ...own, ...claims }, header);
      return post(paths.token, { grant_type: bearerType, assertion });
    },
  };
}

export type World = Awaited<ReturnType<typeof startWorld>>;
