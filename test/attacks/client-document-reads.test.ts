import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { testClock } from "../helpers/clock.ts";
import { authorizeUrl, exchange, paths, pkce, post, signIn } from "../helpers/client.ts";
import { documentServer, redirectUri } from "../helpers/document-server.ts";
import { documentSignIns } from "../helpers/document-sign-in.ts";
import { resolve } from "../helpers/resolve.ts";

/** What a `client_id` makes this server read: what goes with a read, how long it is remembered, and how many one peer causes. */

const documents = await documentServer();
const { base } = documents;
const clock = testClock();
const open = await underAttack({
  now: clock.now,
  settings: { client_metadata_documents: true, client_metadata_loopback: true },
});
const { attempt, again } = documentSignIns(clock, [documents]);

/** The URL of a document that is on no loopback host. */
const elsewhere = (name: string | number) =>
  `https://${typeof name === "string" ? name : `many-${name}`}.example/c.json`;
/** Their names lead where nothing is read from, so that nothing leaves this machine. */
const resolveMany = () =>
  resolve(Object.fromEntries(Array.from({ length: 12 }, (_, count) => [`many-${count}.example`, [["10.0.0.1"]]])));

test("nothing of the request goes with the read, and nothing in the document is read", async () => {
  const more = {
    logo_uri: `${base}/logo.png`,
    client_uri: `${base}/`,
    policy_uri: `${base}/policy`,
    tos_uri: `${base}/tos`,
  };
  const url = documents.publish("/modest.json", {
    ...more,
    backchannel_logout_uri: `${base}/logout`,
    skip_consent: true,
  });
  const { status, reads } = await attempt(open, url);
  expect([status, reads]).toEqual([303, ["/modest.json"]]);
  const { cookie, authorization, referer, accept } = documents.headers();
  expect([cookie, authorization, referer, accept]).toEqual([undefined, undefined, undefined, "application/json"]);
  const kept = await open.call("clients.show", { client_id: url });
  expect([kept["backchannel_logout_uri"], kept["skip_consent"]]).toEqual([undefined, undefined]);
});

describe("reads", () => {
  test.each([
    ["max-age", { "cache-control": "public, max-age=600" }, 599, 601],
    ["max-age less the age", { "cache-control": "max-age=600", age: "500" }, 99, 101],
    ["Expires", { date: "Thu, 01 Jan 2026 00:00:00 GMT", expires: "Thu, 01 Jan 2026 00:10:00 GMT" }, 599, 601],
    ["a day at most", { "cache-control": "max-age=9999999" }, 86_399, 86_401],
  ])("are remembered as the document says: %s", async (what, headers, within, after) => {
    const url = documents.publish(`/cached-${what.replaceAll(" ", "-")}.json`, {}, headers);
    expect((await attempt(open, url)).reads).toHaveLength(1);
    clock.pass(within);
    expect((await again(open, url)).reads).toEqual([]);
    clock.pass(after - within);
    expect((await again(open, url)).reads).toHaveLength(1);
  });

  test("are remembered for 5 s where the document says nothing", async () => {
    const url = documents.publish("/unsaid.json", {}, { "cache-control": "public" });
    expect((await attempt(open, url)).reads).toHaveLength(1);
    clock.pass(4);
    expect((await again(open, url)).reads).toEqual([]);
    clock.pass(2);
    expect((await again(open, url)).reads).toHaveLength(1);
  });

  test.each([
    [{ "cache-control": "max-age=0" }],
    [{ "cache-control": "no-store, max-age=600" }],
    [{ "cache-control": "no-cache" }],
    [{ expires: "0" }],
  ])("are not remembered with %j", async (headers) => {
    const url = documents.publish("/fresh.json", {}, headers);
    expect((await attempt(open, url)).reads).toHaveLength(1);
    expect((await again(open, url)).reads).toHaveLength(1);
  });

  test("a refusal is remembered for 2 s on loopback, whatever the answer says", async () => {
    const url = documents.answer("/broken", (_req, res) =>
      res.writeHead(500, { "cache-control": "max-age=600" }).end(),
    );
    expect((await attempt(open, url)).reads).toHaveLength(1);
    clock.pass(1);
    const refused = await again(open, url);
    expect([refused.reads, refused.error]).toEqual([[], expect.stringContaining("answered 500")]);
    clock.pass(2);
    expect((await again(open, url)).reads).toHaveLength(1);
  });

  test("a refusal is remembered for 60 s elsewhere", async () => {
    const { asked } = resolve({ "broken.example": [["10.0.0.1"]] });
    await attempt(open, elsewhere("broken"));
    clock.pass(59);
    expect((await again(open, elsewhere("broken"))).status).toBe(400);
    expect(asked["broken.example"]).toBe(1);
    clock.pass(2);
    await again(open, elsewhere("broken"));
    expect(asked["broken.example"]).toBe(2);
  });

  test("one peer causes ten in a minute, at all endpoints together", async () => {
    clock.pass(61);
    const { asked } = resolveMany();
    for (let count = 0; count < 9; count++) expect((await again(open, elsewhere(count))).status).toBe(400);
    const par = (client_id: string) =>
      post(
        open,
        "/api/v2/oauth/par",
        {},
        {
          headers: { origin: "http://localhost:3000", "content-type": "application/x-www-form-urlencoded" },
          body: new URLSearchParams({ client_id }),
        },
      );
    expect((await par(elsewhere(9))).status).toBe(401);
    expect((await par(elsewhere(10))).status).toBe(429);
    expect((await again(open, elsewhere(11))).status).toBe(429);
    expect(Object.keys(asked)).toHaveLength(10);
    clock.pass(61);
    expect((await again(open, elsewhere(11))).status).toBe(400);
    expect(Object.keys(asked)).toHaveLength(11);
  });

  test("are counted at each issuer, by the clock of the tester, and forgotten by a reset", async () => {
    clock.pass(61);
    resolveMany();
    const useUp = async (idp: Parameters<typeof again>[0]) => {
      for (let count = 0; count < 10; count++) expect((await again(idp, elsewhere(count))).status).toBe(400);
      expect((await again(idp, elsewhere(10))).status).toBe(429);
    };
    await useUp(open);
    const other = await open.issuers.add("spread", { fixtures: { settings: { client_metadata_loopback: true } } });
    await useUp(other);
    await open.issuers.remove("spread");
    await open.clock.advance(61);
    expect((await again(open, elsewhere(10))).status).toBe(400);
    await open.reset();
    clock.pass(61);
    await useUp(open);
    await open.reset();
    await useUp(open);
    await open.reset();
  });

  test("on loopback are not counted", async () => {
    clock.pass(61);
    for (let count = 0; count < 30; count++) {
      expect((await again(open, documents.publish(`/uncounted-${count}.json`))).status).toBe(303);
    }
  });

  test("requests at the same moment share one", async () => {
    clock.pass(61);
    const url = documents.publish("/shared.json", {}, { "cache-control": "max-age=60" });
    const before = documents.reads.length;
    const all = await Promise.all(
      Array.from({ length: 30 }, () =>
        fetch(authorizeUrl(open, { client_id: url, redirect_uri: redirectUri }), { redirect: "manual" }),
      ),
    );
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([303]));
    expect(documents.reads).toHaveLength(before + 1);
  });
});

describe("what a page sends by itself reads nothing and leaves no record", () => {
  const idsOf = async () => (await open.call("clients.list", {})).map(({ client_id }) => client_id);
  const parts: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    ["an image of a foreign page", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "image" }],
    ["an image of another localhost port", { "sec-fetch-site": "same-site", "sec-fetch-dest": "image" }],
    ["a frame", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" }],
    ["a script's request", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "empty" }],
    ["a request of our own page", { "sec-fetch-site": "same-origin", "sec-fetch-dest": "empty" }],
    ["a prefetch", { "sec-fetch-dest": "document", "sec-purpose": "prefetch" }],
    ["a prerender", { "sec-fetch-dest": "document", "sec-purpose": "prefetch;prerender" }],
  ];
  const endpoints = ["authorize", "logout", "par", "token", "revoke", "device_authorization"] as const;
  const cases = parts.flatMap(([what, headers]) => endpoints.map((endpoint) => [what, endpoint, headers] as const));

  test.each(cases)("%s, at %s", async (what, endpoint, headers) => {
    const path = `/by-itself-${what.replaceAll(/\W/g, "-")}-${endpoint}.json`;
    const out = "https://shelf.example/out";
    const client_id = documents.publish(path, { post_logout_redirect_uris: [out] });
    const before = documents.reads.length;
    const at = `${open.issuer}/api/v2/oauth/${endpoint}`;
    const isPage = endpoint === "authorize" || endpoint === "logout";
    const asked = { client_id, redirect_uri: redirectUri, response_type: "code", post_logout_redirect_uri: out };
    const query = new URLSearchParams(asked);
    const answer = isPage
      ? await fetch(`${at}?${query}`, { headers, redirect: "manual" })
      : await fetch(at, { method: "POST", headers, body: query });
    expect(answer.status).toBe(isPage ? 400 : 401);
    expect(await answer.text()).toContain("was not read yet");
    expect(documents.reads).toHaveLength(before);
    expect(await idsOf()).not.toContain(client_id);
  });

  test("a page of the client goes on with the document that was read last", async () => {
    const page = { "sec-fetch-site": "cross-site", "sec-fetch-dest": "empty" };
    const client_id = documents.publish("/spa.json", {}, { "cache-control": "no-store" });
    const { verifier, challenge } = pkce();
    const proof = { code_challenge: challenge, code_challenge_method: "S256" };
    const { code } = await signIn(open, { client_id, redirect_uri: redirectUri, ...proof });
    const before = documents.reads.length;
    const headers = { ...page, "content-type": "application/json" };
    const ask = (body: object) =>
      post(open, paths.token, {}, { headers, body: JSON.stringify({ client_id, ...body }) });
    const tokens = await ask({
      ...{ grant_type: "authorization_code", code, redirect_uri: redirectUri, code_verifier: verifier },
    });
    expect(tokens.status).toBe(200);
    expect((await ask({ grant_type: "refresh_token", refresh_token: tokens.json.refresh_token })).status).toBe(200);
    const par = await fetch(`${open.issuer}/api/v2/oauth/par`, {
      method: "POST",
      headers: page,
      body: new URLSearchParams({ client_id, redirect_uri: redirectUri, response_type: "code", ...proof }),
    });
    expect(par.status).toBe(201);
    // A silent renewal in a frame.
    const silent = authorizeUrl(open, { client_id, redirect_uri: redirectUri, prompt: "none", ...proof });
    const framed = await fetch(silent, { headers: { ...page, "sec-fetch-dest": "iframe" }, redirect: "manual" });
    expect(framed.headers.get("location")).toContain("error=login_required");
    expect(documents.reads).toHaveLength(before);
    // What a program sends reads it.
    const { refresh_token } = (await exchange(open, code, { client_id, client_secret: null })).json;
    expect(refresh_token).toBeUndefined();
    expect(documents.reads.length).toBeGreaterThanOrEqual(before);
  });
});

describe("the record of a document that no user allowed", () => {
  const has = async (client_id: string) =>
    (await open.call("clients.list", {})).some((client) => client.client_id === client_id);
  const readAnother = (name: string) => again(open, documents.publish(`/another-${name}.json`));

  test("goes an hour after its last use, when the next document is read", async () => {
    clock.pass(61);
    const url = documents.publish("/unused.json", {}, { "cache-control": "max-age=86400" });
    await again(open, url);
    clock.pass(3000);
    // A remembered one is in use too.
    expect((await again(open, url)).reads).toEqual([]);
    clock.pass(3000);
    await readAnother("soon");
    expect(await has(url)).toBe(true);
    clock.pass(601);
    await readAnother("later");
    expect(await has(url)).toBe(false);
    // It comes back with the next sign-in.
    expect((await again(open, url)).status).toBe(303);
    expect(await has(url)).toBe(true);
  });

  test("goes by the clock of the tester, also where that is set back", async () => {
    const url = documents.publish("/moved-clock.json");
    await again(open, url);
    await open.clock.advance("61m");
    await readAnother("ahead");
    expect(await has(url)).toBe(false);
    await again(open, url);
    await open.clock.reset();
    await readAnother("back");
    expect(await has(url)).toBe(false);
  });

  test("stays once a user has allowed it, with its grant", async () => {
    const { challenge } = pkce();
    const url = documents.publish("/kept.json");
    const proof = { code_challenge: challenge, code_challenge_method: "S256" };
    await signIn(open, { client_id: url, redirect_uri: redirectUri, ...proof });
    await open.revoke({ user: "alice", client: url });
    clock.pass(7200);
    await readAnother("after-a-grant");
    expect(await has(url)).toBe(true);
    await open.call("users.remove", { username: "alice" });
    await readAnother("after-its-user");
    expect(await has(url)).toBe(false);
  });
});
