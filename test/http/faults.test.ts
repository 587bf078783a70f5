import { request as send } from "node:http";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import type { FaultInput, Idp } from "../../src/index.ts";
import { register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, paths, post, refresh, userinfo } from "../helpers/client.ts";

/** Faults: what each does to a response, which requests take it, and that checks still apply. */

let idp: Idp;
let app: App;
beforeAll(async () => {
  idp = await serve();
  app = await register(idp);
});
afterEach(() => idp.faults.clear());

const jwks = (): string => `${idp.issuer}/api/v2/oauth/jwks`;
const discovery = (): string => `${idp.issuer}/.well-known/openid-configuration`;
const add = (fault: FaultInput) => idp.faults.add(fault);

/** The result of a request until its connection was closed. */
function raw(address: string): Promise<{ readonly headers: unknown; readonly body: string; readonly whole: boolean }> {
  return new Promise((resolve, reject) => {
    const sent = send(address, { agent: false }, (response) => {
      let body = "";
      response.on("data", (chunk: Buffer) => (body += chunk.toString()));
      response.on("error", () => undefined);
      response.on("close", () => {
        resolve({ headers: response.headers, body, whole: response.complete });
      });
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("what a fault does", () => {
  test("--status: the form of RFC 6749 5.2, once", async () => {
    const { id } = await add({ endpoint: "token", status: 503, header: { "Retry-After": "2" } });
    const tokens = await app.signIn();
    const refused = await app.exchange(tokens.code);
    expect(refused.status).toBe(503);
    expect(refused.headers.get("retry-after")).toBe("2");
    expect(refused.headers.get("cache-control")).toBe("no-store");
    expect(refused.json).toEqual({
      error: "temporarily_unavailable",
      error_description: `fault ${id} of this server made this response on purpose`,
    });
    expect((await app.exchange(tokens.code)).status).toBe(200);
  });

  test("--status 500 is server_error, and so is it shown", async () => {
    const { id } = await add({ endpoint: "token", status: 500 });
    const refused = await refresh(idp, "x");
    expect(refused).toMatchObject({ status: 500, json: { error: "server_error" } });
    const record = (await idp.call("requests.list", { endpoint: "token" })).at(-1);
    expect(record).toMatchObject({ fault: `${id}: 500 server_error`, response: { body: { error: "server_error" } } });
  });

  test("--error and --description", async () => {
    await add({ endpoint: "token", status: 400, error: "invalid_grant", description: "gone" });
    expect((await refresh(idp, "x")).json).toEqual({ error: "invalid_grant", error_description: "gone" });
  });

  test("--body: another body, with status 200 unless given", async () => {
    await add({ endpoint: "jwks", body: "<html>", content_type: "text/html" });
    await add({ endpoint: "jwks", body: "", status: 502 });
    const html = await fetch(jwks());
    expect([html.status, html.headers.get("content-type"), await html.text()]).toEqual([200, "text/html", "<html>"]);
    const empty = await fetch(jwks());
    expect([empty.status, await empty.text()]).toEqual([502, ""]);
  });

  test("--claim: other claims in the ID token, which stays valid, and in UserInfo, of that client alone", async () => {
    const claims = { email: "mallory@example.com", name: "Mallory" };
    await add({ endpoint: "token", client: app.credentials.client_id, claims });
    await add({ endpoint: "userinfo", client: app.credentials.client_id, claims });
    const { code } = await app.signIn();
    const { json: tokens } = await app.exchange(code);
    const { payload } = await jwtVerify(tokens["id_token"], createRemoteJWKSet(new URL(jwks())), {
      ...{ issuer: idp.issuer, audience: app.credentials.client_id },
    });
    expect(payload).toMatchObject(claims);
    const ask = () =>
      fetch(idp.issuer + paths.userinfo, { headers: { authorization: `Bearer ${tokens["access_token"]}` } });
    expect(await (await ask()).json()).toMatchObject({ ...claims, sub: payload.sub });
    expect(await (await ask()).json()).toEqual(expect.not.objectContaining(claims));
    await expect(add({ endpoint: "jwks", claims })).rejects.toThrow(
      "claims has no effect at jwks: it is for token and userinfo alone",
    );
    await expect(add({ endpoint: "token", claims, status: 503 })).rejects.toThrow("leave one of them out");
  });

  test("--drop: no response", async () => {
    await add({ endpoint: "jwks", drop: true });
    await expect(raw(jwks())).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await fetch(jwks())).status).toBe(200);
  });

  test("--drop-after: a part of the body", async () => {
    const whole = await raw(discovery());
    expect(whole.whole).toBe(true);
    await add({ endpoint: "discovery", drop_after: 10 });
    const part = await raw(discovery());
    expect(part).toMatchObject({ body: whole.body.slice(0, 10), whole: false });
    await add({ endpoint: "discovery", body: "1234567890", drop_after: 0 });
    expect(await raw(discovery())).toMatchObject({ body: "", whole: false });
  });

  test("--delay: waits, then goes on as usual or with the rest", async () => {
    await add({ endpoint: "jwks", delay: 0.2 });
    await add({ endpoint: "jwks", delay: "0.2s", status: 500 });
    for (const status of [200, 500]) {
      const began = performance.now();
      expect((await fetch(jwks())).status).toBe(status);
      expect(performance.now() - began).toBeGreaterThan(190);
    }
  });

  test("a client that leaves during a delay changes nothing", async () => {
    const { code } = await app.signIn();
    await add({ endpoint: "token", delay: 60 });
    const gone = new AbortController();
    const body = { ...app.credentials, grant_type: "authorization_code", code, redirect_uri: callback };
    const left = fetch(idp.issuer + paths.token, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: gone.signal,
    });
    // From then on, the request waits.
    await expect.poll(() => idp.faults.list()).toEqual([]);
    gone.abort();
    await expect(left).rejects.toThrow("aborted");
    await expect
      .poll(async () => (await idp.requests.list({ endpoint: "token" })).at(-1))
      .toMatchObject({ status: 0, fault: expect.stringContaining("delay 60 s") as string });
    expect((await app.exchange(code)).status).toBe(200);
  });

  test("HEAD and methods that an endpoint does not have", async () => {
    await add({ endpoint: "jwks", status: 503, always: true });
    const head = await fetch(jwks(), { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([503, ""]);
    expect((await fetch(jwks(), { method: "POST" })).status).toBe(405);
  });

  test("pages of other origins may read it", async () => {
    await add({ endpoint: "token", status: 503 });
    const headers = { origin: "http://localhost:5173", "content-type": "application/json" };
    const { headers: sent, status } = await post(idp, paths.token, {}, { headers });
    expect([status, sent.get("access-control-allow-origin")]).toEqual([503, "http://localhost:5173"]);
  });
});

describe("at the authorization endpoint", () => {
  const open = (change = {}) => new Browser(idp.issuer).open(app.url(change));

  test("an error goes back to the client, with state and iss", async () => {
    await add({ endpoint: "authorize", error: "temporarily_unavailable" });
    const { left } = await open({ state: "s1" });
    expect(left?.href.split("?")[0]).toBe(callback);
    expect(Object.fromEntries(left?.searchParams ?? [])).toEqual({
      error: "temporarily_unavailable",
      error_description: expect.any(String) as string,
      state: "s1",
      iss: idp.issuer,
    });
    expect((await open()).page).toBe("login");
  });

  test("a pushed request is not used up", async () => {
    const pushed = await fetch(`${idp.issuer}/api/v2/oauth/par`, {
      method: "POST",
      body: new URLSearchParams({
        ...{ client_id: app.credentials.client_id, client_secret: app.credentials.client_secret ?? "" },
        ...{ response_type: "code", redirect_uri: callback, scope: "openid" },
      }),
    });
    const { request_uri } = (await pushed.json()) as { readonly request_uri: string };
    const change = {
      ...{ request_uri, redirect_uri: null, scope: null, state: null },
      ...{ response_type: null, nonce: null },
    };
    await add({ endpoint: "authorize", error: "server_error" });
    expect((await open(change)).left?.searchParams.get("error")).toBe("server_error");
    expect((await open(change)).page).toBe("login");
  });

  test("nothing goes to an address that is not the client's, and the fault waits for another request", async () => {
    await add({ endpoint: "authorize", error: "server_error" });
    const refused = await open({ redirect_uri: "http://localhost:3000/other" });
    expect([refused.left, refused.page]).toEqual([null, "error"]);
    expect(await idp.faults.list()).toMatchObject([{ remaining: 1 }]);
  });

  test("--after: the code is lost, and an error comes in its place", async () => {
    await add({ endpoint: "authorize", error: "server_error", after: true });
    const { back } = await app.signIn();
    expect(back.searchParams.get("error")).toBe("server_error");
    expect(back.searchParams.has("code")).toBe(false);
  });
});

describe("which request takes it", () => {
  test("by client, grant type and method", async () => {
    const tokens = await app.tokens();
    await add({ endpoint: "token", client: "demo-service", status: 503 });
    await add({ endpoint: "token", grant_type: "client_credentials", status: 503 });
    await add({ endpoint: "any", method: "DELETE", status: 503 });
    const again = await app.refresh(tokens.refresh_token);
    expect(again.status).toBe(200);
    expect(await idp.faults.list()).toHaveLength(3);
    const basic = Buffer.from("demo-service:demo-service-secret").toString("base64");
    const headers = { authorization: `Basic ${basic}`, "content-type": "application/json" };
    const body = JSON.stringify({ grant_type: "refresh_token" });
    expect((await post(idp, paths.token, {}, { headers, body })).status).toBe(503);
  });

  test("by user: of the code, the refresh token, the access token, the session", async () => {
    const [alice, bob] = [await app.signIn({ user: "alice" }), await app.signIn({ user: "bob" })];
    await add({ endpoint: "token", user: "bob", status: 503, times: 2 });
    const ofAlice = (await app.exchange(alice.code)).json;
    expect(ofAlice.access_token).toBeDefined();
    expect((await app.exchange(bob.code)).status).toBe(503);
    await idp.faults.clear();
    const ofBob = (await app.exchange(bob.code)).json;
    await add({ endpoint: "any", user: "bob", status: 503, always: true });
    expect((await userinfo(idp, ofAlice.access_token)).status).toBe(200);
    expect((await userinfo(idp, ofBob.access_token)).status).toBe(503);
    expect((await app.refresh(ofBob.refresh_token)).status).toBe(503);
    const about = { ...app.credentials, token: ofBob.access_token };
    expect((await post(idp, "/api/v2/oauth/introspect", about)).status).toBe(503);
    expect((await post(idp, "/api/v2/oauth/introspect", { ...about, token: ofAlice.access_token })).status).toBe(200);
    expect((await alice.browser.open(app.url())).left?.searchParams.has("code")).toBe(true);
    await expect(bob.browser.open(app.url())).resolves.toMatchObject({ status: 503 });
  });

  test("--skip lets matching requests pass first", async () => {
    await add({ endpoint: "jwks", status: 503, skip: 2 });
    const seen: number[] = [];
    for (let at = 0; at < 4; at += 1) seen.push((await fetch(jwks())).status);
    expect(seen).toEqual([200, 200, 503, 200]);
  });

  test("50 at once: exactly 7 take a fault of 7 times", async () => {
    await add({ endpoint: "jwks", status: 503, times: 7 });
    await add({ endpoint: "discovery", status: 503, times: 7, after: true });
    for (const address of [jwks(), discovery()]) {
      const all = await Promise.all(Array.from({ length: 50 }, () => fetch(address)));
      expect(all.filter(({ status }) => status === 503)).toHaveLength(7);
    }
    expect(await idp.faults.list()).toEqual([]);
  });

  test("--always stays until it is removed", async () => {
    const { id } = await add({ endpoint: "jwks", status: 503, always: true });
    for (let at = 0; at < 3; at += 1) expect((await fetch(jwks())).status).toBe(503);
    expect(await idp.faults.list()).toMatchObject([{ id, times: null, remaining: null }]);
    await idp.faults.remove(id);
    expect((await fetch(jwks())).status).toBe(200);
    await expect(idp.faults.remove(id)).rejects.toMatchObject({ code: "not_found" });
  });

  test("a client and a user that do not exist are named, each with its field", async () => {
    await expect(add({ endpoint: "token", client: "nobody", user: "alise", status: 503 })).rejects.toMatchObject({
      code: "usage",
      message:
        'the fault was not added: client names no client that exists: "nobody"; user names no user that exists: "alise". Did you mean alice?',
    });
  });

  test("pages, health and the control API take none", async () => {
    await add({ endpoint: "any", status: 503, always: true });
    for (const path of ["/_idp/health", "/account", "/interaction/x/login"]) {
      expect((await fetch(idp.issuer + path)).status, path).not.toBe(503);
    }
    expect((await fetch(jwks())).status).toBe(503);
  });
});

describe("before and after", () => {
  test("before: nothing is changed", async () => {
    const { refresh_token: token } = await app.tokens();
    await add({ endpoint: "token", drop: true });
    await expect(app.refresh(token)).rejects.toThrow("fetch failed");
    expect((await app.refresh(token)).status).toBe(200);
  });

  test.each<Partial<FaultInput>>([{ drop: true }, { status: 503 }, { drop_after: 5 }, { body: "<html>" }])(
    "--after with %j: the response is lost, the rotation stays",
    async (effect) => {
      const { refresh_token: token } = await app.tokens();
      await add({ endpoint: "token", grant_type: "refresh_token", after: true, ...effect });
      const lost = await app.refresh(token).catch(() => null);
      expect(lost?.json.access_token).toBeUndefined();
      const again = await app.refresh(token);
      expect([again.status, again.json.error]).toEqual([400, "invalid_grant"]);
    },
  );

  test("a session cookie does not come with a lost response", async () => {
    await add({ endpoint: "authorize", status: 503, after: true });
    const browser = new Browser(idp.issuer);
    const signedIn = await app.signIn({ browser }).catch(() => null);
    expect(signedIn).toBeNull();
    expect((await browser.open(app.url())).page).toBe("login");
  });
});

test("a fault lets nothing pass that is refused without it", async () => {
  await add({ endpoint: "any", delay: 0, always: true });
  await add({ endpoint: "any", drop_after: 1_000_000, always: true });
  expect((await app.exchange("not-a-code")).json.error).toBe("invalid_grant");
  expect((await post(idp, paths.token, { client_secret: "wrong", grant_type: "client_credentials" })).status).toBe(401);
  expect((await userinfo(idp, "not-a-token")).status).toBe(401);
});

describe("the ledger says which fault a request took", () => {
  const last = async () => (await idp.call("requests.list", {})).at(-1);

  test("one that responds in place of the server", async () => {
    const { id } = await add({ endpoint: "token", status: 503 });
    await app.refresh("x");
    await expect.poll(last).toMatchObject({
      ...{
        endpoint: "token",
        status: 503,
        client: app.credentials.client_id,
        fault: `${id}: 503 temporarily_unavailable`,
      },
      response: { body: { error: "temporarily_unavailable" } },
    });
  });

  test("one before and one after", async () => {
    const [delayed, spoiled] = [
      await add({ endpoint: "token", delay: 0.01 }),
      await add({ endpoint: "token", flaw: "token-type-wrong" }),
    ];
    await app.tokens();
    const fault = `${delayed.id}: delay 0.01 s; ${spoiled.id}: flaw token-type-wrong`;
    await expect.poll(last).toMatchObject({ fault, response: { body: { token_type: "unknown" } } });
  });

  test("a response that was lost", async () => {
    const { refresh_token: token } = await app.tokens();
    const { id } = await add({ endpoint: "token", after: true, drop: true });
    await expect(app.refresh(token)).rejects.toThrow("fetch failed");
    await expect.poll(last).toMatchObject({ endpoint: "token", status: 0, fault: `${id}: connection closed` });
  });
});
