import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { innards, underAttack } from "../helpers/attack.ts";
import { Browser, formsOf } from "../helpers/browser.ts";
import { authorizeUrl, signIn, exchange } from "../helpers/client.ts";
import { rawRequest, type RawAnswer } from "../helpers/raw-http.ts";
import { longRuns, report, timeLimit } from "../helpers/runs.ts";
import { requests } from "./fuzz.ts";

/** Noise and structures at every endpoint: the response fits the contract and has no internals, and the server goes on. */

const adminToken = "an-admin-token-of-these-tests";
const idp = await underAttack({ adminToken, dynamicRegistration: true });
const host = `Host: localhost:${idp.port}`;

interface OpenApi {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, unknown>> }>>>
  >;
}
const openapi = (await (
  await fetch(`${idp.issuer}/_idp/api/openapi.json`, { headers: { authorization: `Bearer ${adminToken}` } })
).json()) as OpenApi;
const discovery = (await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json()) as Readonly<
  Record<string, unknown>
>;

const protocol = Object.entries(discovery)
  .filter(([name]) => /_endpoint$|^jwks_uri$/.test(name))
  .map(([name, url]): [string, string[]] => [
    new URL(String(url)).pathname,
    /authorization_endpoint$|userinfo|end_session/.test(name) && !name.startsWith("device")
      ? ["GET", "POST"]
      : [name === "jwks_uri" ? "GET" : "POST"],
  ]);
const pages: [string, string[]][] = [
  ["/.well-known/openid-configuration", ["GET"]],
  ["/.well-known/oauth-authorization-server", ["GET"]],
  ["/api/v2/oauth/register/:clientId", ["GET", "PUT", "DELETE"]],
  ["/interaction/:uid/login", ["GET", "POST"]],
  ["/interaction/:uid/consent", ["GET", "POST"]],
  ["/interaction/:uid/logout", ["GET", "POST"]],
  ["/device", ["GET", "POST"]],
  ["/account", ["GET"]],
  ["/account/apps/:clientId/remove", ["GET", "POST"]],
  ["/account/preferences", ["POST"]],
  ["/account/end-session", ["POST"]],
  ["/account/sign-out", ["POST"]],
  ["/_idp/health", ["GET"]],
  ["/:anything", ["GET", "POST"]],
];
/** `stop` does what it is asked for, and the stream has no end. */
const control = Object.entries(openapi.paths)
  .filter(([path]) => !/\/(?:stop|stream)$/.test(path))
  .map(([path, methods]): [string, string[]] => [
    `${path.startsWith("/_idp/api") ? "" : "/_idp/api"}${path.replace(/\{(\w+)\}/g, ":$1")}`,
    Object.keys(methods).map((method) => method.toUpperCase()),
  ]);

const admin = `Authorization: Bearer ${adminToken}`;
let known: readonly string[] = [];
let credentials: readonly string[] = [];

/** Valid secrets: an interaction under way, a session, a code, tokens. Noise alone would not pass the first check. */
async function renew(): Promise<void> {
  // One of the requests before may have suspended Alice.
  await idp.call("reset", {});
  const waiting = new Browser(idp.issuer);
  const login = await waiting.open(authorizeUrl(idp));
  const consenting = new Browser(idp.issuer);
  await signIn(idp, { browser: consenting, user: "bob", prompt: "consent" });
  const consent = await consenting.open(authorizeUrl(idp, { prompt: "consent" }));
  const { browser, code } = await signIn(idp, { prompt: "consent" });
  const { json } = await exchange(idp, code);
  const fields = [login, consent].flatMap(({ body }) =>
    formsOf(body).flatMap((form) => form.fields.map(([, value]) => value)),
  );
  known = [
    ...[
      "demo-app",
      "demo-secret",
      "demo-spa",
      "demo-service",
      "demo-service-secret",
      "alice",
      "bob",
      "carol",
      "openid profile email",
    ],
    ...[
      "http://localhost:3000/callback",
      "code",
      "none",
      "login",
      "consent",
      "allow",
      "deny",
      "1",
      "S256",
      "form_post",
    ],
    ...["authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code"],
    ...[
      "urn:ietf:params:oauth:grant-type:token-exchange",
      "urn:ietf:params:oauth:token-type:access_token",
      "RS256",
      "ES256",
    ],
    ...["urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "orders:read", "active", "fixtures", "x".repeat(43)],
    ...(await signIn(idp, { prompt: "consent" })).code.split(" "),
    ...[
      code,
      json.access_token,
      json.refresh_token,
      json.id_token,
      new URL(login.url).pathname.split("/")[2] ?? "",
      new URL(consent.url).pathname.split("/")[2] ?? "",
    ],
    ...new Set(fields),
  ];
  const cookies = (one: Browser): string =>
    `Cookie: ${[...one.cookies].map(([name, value]) => `${name}=${value}`).join("; ")}`;
  credentials = [
    ...[
      admin,
      admin,
      admin,
      `Authorization: Bearer ${json.access_token}`,
      `Authorization: Basic ${btoa("demo-app:demo-secret")}`,
    ],
    ...[
      cookies(waiting),
      cookies(consenting),
      cookies(browser),
      `Origin: ${idp.issuer}`,
      "Origin: http://evil.test",
      "Sec-Fetch-Site: same-origin",
    ],
  ];
}

const counts = new Map<string, number>();
let sent = 0;
afterAll(() => report(`${sent} requests`, counts));

async function send(bytes: string, how = {}): Promise<RawAnswer> {
  const answer = await rawRequest(idp.port, bytes, how);
  sent += 1;
  counts.set(String(answer.status), (counts.get(String(answer.status)) ?? 0) + 1);
  return answer;
}

const statuses = [200, 201, 204, 302, 303, 400, 401, 403, 404, 405, 409, 413, 414, 415, 417, 421, 422, 431];

function check(target: string, { status, head, body }: RawAnswer, isHead: boolean): void {
  expect(statuses).toContain(status);
  expect(head + body).not.toMatch(innards);
  // Only an export holds the hash of a password.
  if (!target.startsWith("/_idp/api/export")) expect(body).not.toContain("scrypt$");
  expect(head).not.toMatch(/^x-injected|^x-powered-by/im);
  // What Node itself refuses has no body: an Expect header.
  if (status < 400 || isHead || status === 417) return;
  const type = /^content-type: (.*)$/im.exec(head)?.[1] ?? "";
  if (type.startsWith("text/html")) expect(body).toMatch(/<html[^>]* data-page="/);
  else {
    const json = JSON.parse(body) as Readonly<Record<string, unknown>>;
    // A page as data, for who asked for JSON.
    const expected = "page" in json ? ["page", "state"] : ["error", "error_description"];
    expect(expected.map((name) => typeof json[name])).toEqual(["string", "string"]);
  }
}

const tries = longRuns(250);

test(`${tries} random requests of known and harmful values`, { timeout: timeLimit }, async () => {
  const targets = [...protocol, ...protocol, ...pages, ...pages, ...control];
  const one = requests(
    targets,
    () => known,
    () => credentials,
  );
  let runs = 0;
  await renew();
  await fc.assert(
    fc.asyncProperty(one, async ({ method, target, headers, body }) => {
      // What is live does not live long under this.
      if (++runs % 100 === 0) await renew();
      const head = [`${method} ${target} HTTP/1.1`, host, "Connection: close", ...headers].join("\r\n");
      check(target, await send(`${head}\r\n\r\n${body}`), method === "HEAD");
    }),
    { numRuns: tries },
  );
  // Not all of it was refused at the door.
  expect(counts.get("200") ?? 0).toBeGreaterThan(tries / 50);
});

test("bytes", { timeout: timeLimit }, async () => {
  const paths = [...protocol, ...pages, ...control].map(([path]) => path);
  const noise = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
  const part = fc.oneof(
    noise,
    fc.constantFrom("\r\n", "\r\n\r\n", " ", ":", "HTTP/1.1", host, "Transfer-Encoding: chunked", "Content-Length: 5"),
  );
  const request = fc.oneof(
    fc.array(part, { maxLength: 8 }).map((parts) => `${parts.join("")}\r\n\r\n`),
    fc
      .tuple(fc.constantFrom("GET", "POST"), fc.constantFrom(...paths), fc.array(part, { maxLength: 8 }))
      .map(([method, path, parts]) => `${method} ${path} HTTP/1.1\r\nConnection: close\r\n${parts.join("")}\r\n\r\n`),
  );
  await fc.assert(
    fc.asyncProperty(request, async (bytes) => {
      const { status, head, body } = await send(bytes, { ends: true });
      // Closed without a word, or refused.
      expect([0, ...statuses]).toContain(status);
      expect(head + body).not.toMatch(innards);
    }),
    { numRuns: longRuns(50, 10), timeout: 5000 },
  );
});
