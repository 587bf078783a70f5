import { expect, onTestFinished, test } from "vitest";
import type { RequestRecord } from "../../src/core/testing/ledger/request-json.ts";
import { createIdp, type Idp, type RequestEvent } from "../../src/index.ts";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { rawRequest } from "../helpers/raw-http.ts";
import { authorizeUrl, callback, paths, pkce, post, userinfo } from "../helpers/client.ts";

/** The ledger: the requests to the server, as the control API shows them. */

const idp = await serve();

const call = async (path: string, method = "GET"): Promise<{ readonly status: number; readonly body: unknown }> => {
  const response = await fetch(`${idp.issuer}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${idp.adminToken}` },
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
};

const list = async (query = ""): Promise<readonly RequestRecord[]> =>
  (await call(`/requests${query}`)).body as readonly RequestRecord[];

const fingerprint = expect.stringMatching(/^[\w-]{10}$/) as unknown;

test("a sign-in from the first request to UserInfo and refresh is one flow, and another sign-in is another", async () => {
  await idp.call("requests.clear", {});
  const app = await register(idp, { client_id: "one-flow" });
  const tokens = await app.tokens();
  await userinfo(idp, tokens.access_token);
  const { json } = await app.refresh(tokens.refresh_token);
  await userinfo(idp, json.access_token);
  const other = await app.tokens({ user: "bob" });
  await userinfo(idp, other.access_token);
  const records = await list();
  const ofFlow = (flow: string | null): readonly string[] =>
    records.filter((record) => record.flow === flow).map(({ method, endpoint }) => `${method} ${endpoint}`);
  const signIn = [
    "GET authorize",
    "GET login",
    "POST login",
    "GET consent",
    "POST consent",
    "POST token",
    "GET userinfo",
  ];
  const flows = [...new Set(records.map(({ flow }) => flow))];
  expect(flows.map(ofFlow)).toEqual([[...signIn, "POST token", "GET userinfo"], signIn]);
});

test("the record of a token request: what was sent, without secrets", async () => {
  const app = await register(idp, { client_id: "recorded" });
  const { verifier, challenge } = pkce();
  const { code } = await app.signIn({
    code_challenge: challenge,
    code_challenge_method: "S256",
    scope: "openid email",
  });
  await app.exchange(code, { code_verifier: verifier });
  const [record] = (await list("?endpoint=token&client=recorded")).slice(-1);
  expect(record).toEqual({
    id: expect.stringMatching(/^(?:r|[a-z]+-)\d+$/) as unknown,
    time: expect.any(String) as unknown,
    flow: expect.stringMatching(/^f[a-z]*\d+$/) as unknown,
    endpoint: "token",
    method: "POST",
    path: paths.token,
    status: 200,
    ms: expect.any(Number) as unknown,
    client: "recorded",
    user: "alice",
    grant_type: "authorization_code",
    scope: "openid email",
    parameters: {
      grant_type: "authorization_code",
      client_id: "recorded",
      client_secret: { fingerprint: null },
      code: { fingerprint },
      redirect_uri: callback,
      code_verifier: { fingerprint },
    },
    response: {
      body: {
        access_token: {
          fingerprint,
          header: expect.objectContaining({ typ: "at+jwt" }) as unknown,
          claims: expect.objectContaining({ client_id: "recorded", scope: "openid email" }) as unknown,
        },
        token_type: "Bearer",
        expires_in: 1800,
        scope: "openid email",
        refresh_token: expect.objectContaining({ fingerprint }) as unknown,
        id_token: expect.objectContaining({
          claims: expect.objectContaining({ aud: "recorded" }) as unknown,
        }) as unknown,
      },
    },
    outcome: 'authorization_code: access, refresh, id for "openid email"',
    error: null,
    metadata_document: null,
    rule: null,
    fix: null,
    fault: null,
    clock: null,
  });
  const [authorize] = await list(`?endpoint=authorize&flow=${record?.flow ?? ""}`);
  const [consent] = await list(`?endpoint=consent&method=POST&flow=${record?.flow ?? ""}`);
  expect(authorize?.parameters).toMatchObject({
    scope: "openid email",
    code_challenge: { fingerprint },
    state: { fingerprint },
  });
  // Equal values have equal fingerprints.
  expect(consent?.response).toMatchObject({
    location: callback,
    parameters: { code: record?.parameters["code"], state: authorize?.parameters["state"], iss: idp.issuer },
  });
  expect((await call(`/requests/${record?.id ?? ""}`)).body).toEqual(record);
});

test("a refusal: the reason, the paragraph and the fix", async () => {
  await post(idp, paths.token, {
    client_id: "demo-app",
    client_secret: "demo-secret",
    grant_type: "authorization_code",
  });
  await fetch(`${idp.issuer}${paths.authorize}?client_id=demo-app&response_type=code&redirect_uri=${callback}/`);
  const [token, authorize] = (await list()).slice(-2);
  expect(token).toMatchObject({
    status: 400,
    outcome: "refused",
    rule: "RFC 6749 4.1.3",
    error: expect.stringMatching(/^invalid_request: code is missing/) as unknown,
  });
  expect(authorize).toMatchObject({
    rule: "RFC 6749 3.1.2.3, RFC 9700 2.1",
    fix: expect.stringContaining("--add-redirect-uri") as unknown,
  });
});

test("a refusal of an unknown client: built-in scopes are recorded as they were sent", async () => {
  await fetch(`${idp.issuer}${paths.authorize}?client_id=nobody&response_type=code&scope=openid+profile+email`);
  expect((await list()).at(-1)).toMatchObject({ parameters: { scope: "openid profile email" } });
});

test.each([
  ["before the work", { status: 503 }],
  ["after it", { status: 503, after: true }],
  ["by a closed connection", { drop: true }],
] as const)(
  "a fault %s: a registered client ID is recorded as it was sent, any other text is not",
  async (_, fault) => {
    const { credentials } = await register(idp, { grant_types: ["client_credentials"], redirect_uris: [] });
    const sent = { grant_type: "client_credentials", ...credentials };
    for (const [client_id, recorded] of [
      [credentials.client_id, credentials.client_id],
      ["a-secret-in-the-wrong-field", { fingerprint }],
    ] as const) {
      await idp.call("faults.add", { endpoint: "token", times: 1, ...fault });
      await post(idp, paths.token, { ...sent, client_id }).catch(() => null);
      await idp.call("faults.clear", {});
      const record = (await list("?endpoint=token")).at(-1);
      expect(record).toMatchObject({ fault: expect.any(String) as unknown, parameters: { client_id: recorded } });
    }
  },
);

test("a refused sign-in: an existing user name is recorded, any other text is not", async () => {
  const own = await serve({ settings: { login: "password" } });
  const browser = new Browser(own.issuer);
  const page = await browser.open(authorizeUrl(own));
  for (const username of ["alice", "a password in the wrong field"]) {
    await browser.press(page, "login-submit", { username, password: "a wrong password" });
  }
  const [known, unknown] = (await own.call("requests.list", { endpoint: "login", method: "POST" })).slice(-2);
  expect(known).toMatchObject({ status: 401, user: "alice", parameters: { username: "alice" }, outcome: "refused" });
  expect(unknown).toMatchObject({ status: 401, user: null, parameters: { username: { fingerprint } } });
  expect(known?.parameters["password"]).toEqual({ fingerprint: null });
  expect(JSON.stringify([known, unknown])).not.toMatch(/a wrong password|in the wrong field/);
});

test("nothing below /_idp/ is recorded", async () => {
  await idp.call("requests.clear", {});
  await call("/users");
  await call("/nothing");
  await fetch(`${idp.issuer}/_idp/health?key=secret`);
  await fetch(`${idp.issuer}/_idp/?key=secret`);
  await fetch((await idp.call("inspector.open", {})).url);
  await fetch(`${idp.issuer}/_idp`);
  await fetch(`${idp.issuer}/.well-known/openid-configuration`);
  expect((await list()).map(({ endpoint, flow }) => [endpoint, flow])).toEqual([["discovery", null]]);
});

test("it holds the last requests, as many as the setting says, each with a unique id", async () => {
  const small = await serve({ settings: { ledger: 3 } });
  for (let at = 0; at < 5; at += 1) await fetch(`${small.issuer}/?${at}`);
  const records = await small.call("requests.list", {});
  expect(records).toHaveLength(3);
  expect(new Set(records.map(({ id }) => id)).size).toBe(3);
  await fetch(`${small.issuer}/nowhere`);
  const later = await small.call("requests.list", {});
  expect(later.slice(0, 2)).toEqual(records.slice(1));
  expect(await small.call("requests.list", { since: later[1]?.id })).toEqual(later.slice(2));
  await expect(small.call("requests.show", { id: records[0]?.id ?? "" })).rejects.toThrow(/holds no request/);
  await small.call("requests.clear", {});
  expect(await small.call("requests.list", {})).toEqual([]);
});

test.each([
  ["endpoint=tokens", 'the input is not valid: endpoint "tokens" is not one of authorize, token, '],
  ["status=4x", 'the input is not valid: status must be a status such as 400, or a class such as 4xx; it is "4x"'],
  ["since=yesterday", "the input is not valid: since must be the id of a request, such as r17, or an ISO 8601 time"],
  ["clinet=demo-app", "the input is not valid: clinet is an unknown key. Did you mean client?"],
])("an impossible filter is refused: %s", async (query, description) => {
  for (const path of ["/requests", "/requests/stream"]) {
    const { status, body } = await call(`${path}?${query}`);
    const refusal = body as { readonly error_description: string; readonly problems: unknown };
    expect(status).toBe(422);
    expect(refusal.error_description.slice(0, description.length)).toBe(description);
    expect(refusal.problems).toHaveLength(1);
  }
});

test("filters: all given ones must match", async () => {
  await idp.call("requests.clear", {});
  await post(idp, paths.token, { grant_type: "client_credentials" });
  await userinfo(idp, null);
  const ids = async (query: string) => (await list(query)).map(({ endpoint }) => endpoint);
  expect(await ids("?status=4xx")).toEqual(["token", "userinfo"]);
  expect(await ids("?status=401&method=get")).toEqual(["userinfo"]);
  expect(await ids("?client=demo-app&grant_type=client_credentials")).toEqual(["token"]);
  expect(await ids("?client=demo-app&endpoint=userinfo")).toEqual([]);
  expect(await ids(`?since=${new Date(0).toISOString()}&endpoint=any`)).toEqual(["token", "userinfo"]);
  expect(await ids("?since=2999-01-01T00:00:00Z")).toEqual([]);
});

/** The events of a stream, as they come. */
async function* eventsOf(own: Idp, query: string, headers: Record<string, string> = {}): AsyncGenerator<RequestRecord> {
  const response = await fetch(`${own.issuer}/_idp/api/requests/stream${query}`, {
    headers: { authorization: `Bearer ${own.adminToken}`, ...headers },
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) yield JSON.parse(data) as RequestRecord;
    }
  }
}

test("the stream sends each request that comes, after those that are asked for, and ends with the server", async () => {
  const own = await serve();
  await fetch(`${own.issuer}/one`);
  await fetch(`${own.issuer}/two`);
  const [first] = await own.call("requests.list", {});
  for (const [query, headers] of [
    [`?since=${first?.id ?? ""}`, {}],
    ["", { "last-event-id": first?.id ?? "" }],
  ] as const) {
    const events = eventsOf(own, query, headers);
    expect((await events.next()).value).toMatchObject({ path: "/two" });
    await events.return(undefined);
  }
  const events = eventsOf(own, `?endpoint=none&since=${first?.id ?? ""}`);
  expect((await events.next()).value).toMatchObject({ path: "/two" });
  await fetch(`${own.issuer}/.well-known/openid-configuration`);
  await fetch(`${own.issuer}/three`);
  expect((await events.next()).value).toMatchObject({ path: "/three", status: 404 });
  const end = events.next();
  await own.close();
  expect(await end).toEqual({ value: undefined, done: true });
});

test("every endpoint that the ledger names can be filtered by", async () => {
  const keycloak = await serve({ settings: { endpoints: "keycloak" } });
  const opened = ["/", "/w/shop/.well-known/openid-configuration", "/favicon.ico", "/account", "/nothing", "/device"];
  for (const { issuer, requests } of [idp, keycloak]) {
    for (const path of opened) await fetch(new URL(issuer).origin + path, { redirect: "manual" });
    await fetch(`${issuer}/protocol/openid-connect/3p-cookies/step1.html`);
    const named = (await requests.list()).map(({ endpoint }) => endpoint);
    expect(named).toEqual(expect.arrayContaining(["workload", "stylesheet", issuer === idp.issuer ? "none" : "frame"]));
    for (const endpoint of new Set(named)) {
      const found = await requests.list({ endpoint: endpoint as "any" });
      expect(found.map((record) => record.endpoint)).toContain(endpoint);
    }
  }
});

test("a request whose headers are too large has a body, a line in the log and a record, without its values", async () => {
  const events: RequestEvent[] = [];
  const own = await createIdp({ port: 0, onRequest: (event) => events.push(event) });
  onTestFinished(() => own.close());
  const sent = `GET /account?code=secret HTTP/1.1\r\nHost: localhost\r\nCookie: a=${"x".repeat(70_000)}\r\n\r\n`;
  const { status, head, body } = await rawRequest(own.port, sent);
  expect([status, /^content-type: (.*)$/im.exec(head)?.[1]]).toEqual([431, "application/json; charset=utf-8"]);
  expect(JSON.parse(body)).toEqual({
    error: "invalid_request",
    error_description: expect.stringMatching(/^the headers are longer than 65,536 bytes: .*cookies/),
  });
  const [record] = await own.requests.list({ status: 431 });
  expect(record).toMatchObject({ endpoint: "none", rule: "RFC 6585 5" });
  expect(record?.fix).toMatch(/cookies/);
  expect(events).toMatchObject([{ id: record?.id, status: 431, error: record?.error }]);
  expect(JSON.stringify([record, events])).not.toContain("secret");
  // A request line that was never read to its end.
  expect((await rawRequest(own.port, `GET /${"x".repeat(70_000)}`)).status).toBe(431);
});

test("a reader who asks gets the ids of the faults that a request took", async () => {
  const ids: string[] = [];
  for (const delay of [0.01, 0.02]) {
    const after = delay === 0.02;
    ids.push((await idp.call("faults.add", { endpoint: "discovery", delay, after })).id);
  }
  await fetch(`${idp.issuer}/.well-known/openid-configuration`);
  const [first, second] = ids;
  expect((await list("?endpoint=discovery&parts=true")).at(-1)).toMatchObject({
    faults: ids,
    fault: expect.stringMatching(new RegExp(`^${first}: .*; ${second}: `)),
  });
  expect((await list("?endpoint=discovery")).at(-1)).not.toHaveProperty("faults");
});

test("a reader who writes commands itself gets the words of a fix: of a request, and on the page", async () => {
  await fetch(authorizeUrl(idp, { redirect_uri: "http://localhost:3001/it's" }));
  const command = ["idp", "clients", "edit", "demo-app", "--add-redirect-uri", "http://localhost:3001/it's"];
  expect((await list("?status=400")).at(-1)).not.toHaveProperty("next");
  expect((await list("?status=400&parts=true")).at(-1)?.next).toMatchObject({ command });
  const headers = { accept: "text/html" };
  const page = await fetch(authorizeUrl(idp, { redirect_uri: "http://localhost:3001/other" }), { headers });
  expect(await page.text()).toContain(
    'data-command="idp clients edit demo-app --add-redirect-uri http://localhost:3001/other"',
  );
});
