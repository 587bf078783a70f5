import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, exchange, paths, pkce, post, signIn, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { idpHere } from "../helpers/command.ts";
import { documentServer } from "../helpers/document-server.ts";

/** Records that a stranger causes, by a metadata document or a registration, do not count as what the operator registered. */

const documents = await documentServer();
const clock = testClock();
const idp = await underAttack({ now: clock.now, settings: { mcp: true, client_metadata_loopback: true } });
const { verifier, challenge } = pkce();

const registration = "/api/v2/oauth/register";
const par = "/api/v2/oauth/par";
const device = "/api/v2/oauth/device_authorization";
const ofClients = [paths.token, paths.userinfo, paths.revoke, par, device] as const;

let count = 0;
/** A client whose pages are at an origin of its own, by each way in which a stranger makes one. @returns its id */
const strangers: readonly (readonly [string, (origin: string) => Promise<string>])[] = [
  [
    "a metadata document",
    async (origin) => {
      const redirect_uri = `${origin}/callback`;
      const client_id = documents.publish(`/stranger-${(count += 1)}.json`, { redirect_uris: [redirect_uri] });
      await fetch(authorizeUrl(idp, { client_id, redirect_uri }), { redirect: "manual" });
      return client_id;
    },
  ],
  [
    "a registration",
    async (origin) => {
      const metadata = { redirect_uris: [`${origin}/callback`], token_endpoint_auth_method: "none" };
      const { json } = await post(idp, registration, {}, { body: JSON.stringify(metadata) });
      return String(json["client_id"]);
    },
  ],
];

const send = async (path: string, init: RequestInit & { readonly headers: Record<string, string> }) =>
  (await fetch(idp.issuer + path, { redirect: "manual", ...init })).headers.get("access-control-allow-origin");

const preflight = (path: string, origin: string) =>
  send(path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    },
  });
const form = (path: string, origin: string, body: Record<string, string>, more: Record<string, string> = {}) =>
  send(path, { method: "POST", headers: { origin, ...more }, body: new URLSearchParams(body) });
const basic = (id: string) => ({ authorization: `Basic ${btoa(`${encodeURIComponent(id)}:`)}` });

describe.each(strangers)("the origin that %s brings", (_how, makeClient) => {
  const newOrigin = () => `https://evil-${(count += 1)}.test`;
  const allowedBy = async (client_id: string, origin: string) => {
    const redirect_uri = `${origin}/callback`;
    const proof = { code_challenge: challenge, code_challenge_method: "S256" };
    const { code } = await signIn(idp, { client_id, redirect_uri, ...proof });
    const own = { client_id, client_secret: null, redirect_uri, code_verifier: verifier };
    return (await exchange(idp, code, own)).json;
  };

  test("is trusted nowhere before a user has allowed the client", async () => {
    const origin = newOrigin();
    const client_id = await makeClient(origin);
    for (const path of [...ofClients, registration, `${registration}/${client_id}`]) {
      expect([path, await preflight(path, origin)]).toEqual([path, null]);
      expect([path, await form(path, origin, { client_id })]).toEqual([path, null]);
      expect([path, await form(path, origin, {}, basic(client_id))]).toEqual([path, null]);
    }
    const json = { origin, "content-type": "application/json" };
    const secret = { client_id: "demo-app", client_secret: "demo-secret", grant_type: "client_credentials" };
    expect(await send(paths.token, { method: "POST", headers: json, body: JSON.stringify(secret) })).toBeNull();
    const metadata = JSON.stringify({ redirect_uris: [`${origin}/x`] });
    expect(await send(registration, { method: "POST", headers: json, body: metadata })).toBeNull();
  });

  test("reads its own client's answers once a user has allowed that, and no others", async () => {
    const origin = newOrigin();
    const client_id = await makeClient(origin);
    const { access_token } = await allowedBy(client_id, origin);
    expect((await userinfo(idp, access_token)).status).toBe(200);
    for (const path of ofClients) {
      expect([path, await preflight(path, origin)]).toEqual([path, origin]);
      expect([path, await form(path, origin, { client_id: "demo-app" })]).toEqual([path, null]);
      expect([path, await form(path, origin, {}, basic("demo-app"))]).toEqual([path, null]);
      expect([path, await form(path, origin, { client_id }, basic("demo-app"))]).toEqual([path, null]);
      expect([path, await form(path, origin, {})]).toEqual([path, null]);
    }
    for (const path of [paths.token, paths.revoke, par, device]) {
      expect([path, await form(path, origin, { client_id })]).toEqual([path, origin]);
      expect([path, await form(path, origin, {}, basic(client_id))]).toEqual([path, origin]);
    }
    const bearer = (token: string) => send(paths.userinfo, { headers: { origin, authorization: `Bearer ${token}` } });
    expect(await bearer(access_token)).toBe(origin);
    expect(await form(paths.userinfo, origin, { access_token })).toBe(origin);
    const other = await idp.call("issue.tokens", { user: "alice", client: "demo-app" });
    expect(await bearer(other.access_token)).toBeNull();
    expect(await bearer("no token at all")).toBeNull();
    for (const path of [registration, `${registration}/${client_id}`]) {
      expect([path, await preflight(path, origin)]).toEqual([path, null]);
      expect([path, await form(path, origin, { client_id })]).toEqual([path, null]);
    }
  });

  test("reads that the access is over, as any app", async () => {
    const origin = newOrigin();
    const client_id = await makeClient(origin);
    const { access_token } = await allowedBy(client_id, origin);
    await idp.revoke({ user: "alice", client: client_id });
    const headers = { origin, authorization: `Bearer ${access_token}` };
    const answer = await fetch(idp.issuer + paths.userinfo, { headers });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([403, origin]);
    expect(answer.headers.get("vary")).toMatch(/\bOrigin\b/);
  });

  test("never counts for the client of another stranger", async () => {
    const [origin, otherOrigin] = [newOrigin(), newOrigin()];
    const [client_id, other] = [await makeClient(origin), await makeClient(otherOrigin)];
    await allowedBy(client_id, origin);
    await allowedBy(other, otherOrigin);
    expect(await form(paths.token, origin, { client_id: other })).toBeNull();
    expect(await form(paths.token, otherOrigin, { client_id })).toBeNull();
  });
});

test("an operator's client of the same origin keeps all of it", async () => {
  const origin = "https://shared.test";
  await idp.call("seed", {
    clients: [{ client_id: "operators", redirect_uris: [`${origin}/cb`], client_secret: "s" }],
  });
  for (const [, makeClient] of strangers) await makeClient(origin);
  for (const path of [...ofClients, registration]) expect(await preflight(path, origin)).toBe(origin);
  expect(await form(paths.token, origin, { client_id: "anything" })).toBe(origin);
});

test.each(strangers)("no refusal proposes the id that %s brought", async (_how, makeClient) => {
  const client_id = await makeClient("https://near.test");
  const misspelled = client_id.startsWith("c_") ? `${client_id}x` : client_id.slice(0, -1);
  const { json } = await post(idp, paths.token, {
    ...{ client_id: misspelled.replace(/^http/, "htp"), client_secret: "s", grant_type: "client_credentials" },
  });
  expect(json.error).toBe("invalid_client");
  expect(json.error_description).not.toContain("did you mean");
});

test.each(strangers)(
  "the page after a sign-out has no link to the app that %s brought, before a user has allowed it",
  async (_how, makeClient) => {
    const client_id = await makeClient("https://phish.test");
    const link = async () => {
      const page = await fetch(`${idp.issuer}/api/v2/oauth/logout?${new URLSearchParams({ client_id })}`);
      return (await page.text()).includes("https://phish.test");
    };
    expect(await link()).toBe(false);
    await idp.call("issue.grant", { user: "alice", client: client_id });
    expect(await link()).toBe(true);
  },
);

test.each(strangers)(
  "the page of a sign-in that is over has no link to the app that %s brought, before a user has allowed it",
  async (_how, makeClient) => {
    const origin = "https://phish.test";
    const client_id = await makeClient(origin);
    const proof = { code_challenge: challenge, code_challenge_method: "S256" };
    const link = async () => {
      const browser = new Browser(idp.issuer);
      const login = await browser.open(authorizeUrl(idp, { client_id, redirect_uri: `${origin}/callback`, ...proof }));
      await browser.press(login, "login-cancel");
      const over = await browser.open(login.url);
      expect(over.status).toBe(404);
      return over.body.includes(`href="${origin}`);
    };
    expect(await link()).toBe(false);
    await idp.call("issue.grant", { user: "alice", client: client_id });
    expect(await link()).toBe(true);
  },
);

test("where an address alone names the client of a sign-out, no stranger's client counts", async () => {
  const entra = await underAttack({
    settings: { mcp: true, client_metadata_loopback: true, endpoints: "entra" },
  });
  const out = "https://app.example/out";
  const { registration_endpoint: url } = (await (
    await fetch(`${entra.issuer}/.well-known/openid-configuration`)
  ).json()) as { readonly registration_endpoint: string };
  const register = (post_logout_redirect_uris: readonly string[]) =>
    fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        client_name: "Impostor",
        redirect_uris: ["https://evil.test/cb"],
        post_logout_redirect_uris,
      }),
    });
  const logout = async (address: string) => {
    const { end_session_endpoint: endpoint } = (await (
      await fetch(`${entra.issuer}/.well-known/openid-configuration`)
    ).json()) as { readonly end_session_endpoint: string };
    const asked = await fetch(`${endpoint}?${new URLSearchParams({ post_logout_redirect_uri: address })}`, {
      redirect: "manual",
    });
    return asked.headers.get("location");
  };
  expect((await register(["https://evil.test/out"])).status).toBe(201);
  // Nobody's address: the sign-out is done, and the browser stays.
  expect(await logout("https://evil.test/out")).toBeNull();
  await entra.call("seed", {
    clients: [
      {
        client_id: "app",
        client_secret: "s",
        redirect_uris: ["https://app.example/cb"],
        post_logout_redirect_uris: [out],
      },
    ],
  });
  expect((await register([out])).status).toBe(201);
  // The operator's app is still the only one with this address.
  expect(await logout(out)).toContain("/interaction/");
});

test("no client of a stranger becomes the app of idp env", async () => {
  const worker = { client_id: "worker", client_secret: "s", grant_types: ["client_credentials"] } as const;
  const alone = await underAttack({
    fixtures: { users: [{ username: "alice" }], clients: [worker] },
    settings: { mcp: true, client_metadata_loopback: true },
  });
  const redirect_uri = "http://localhost:3000/callback";
  const client_id = documents.publish("/likely.json");
  await fetch(authorizeUrl(alone, { client_id, redirect_uri }), { redirect: "manual" });
  await fetch(alone.issuer + registration, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Stranger", redirect_uris: [redirect_uri] }),
  });
  expect(await alone.call("clients.list", {})).toHaveLength(3);
  const { stdout } = await idpHere(["env", "--url", alone.issuer], "", { IDP_ADMIN_TOKEN: alone.adminToken });
  expect(stdout).toContain("OIDC_CLIENT_ID=worker");
});
