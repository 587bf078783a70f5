import { Chalk } from "chalk";
import { expect, test } from "vitest";
import { firstScreen, type Screen } from "../../src/cli/start/first-screen.ts";
import type { Invocation } from "../../src/cli/invocation.ts";
import { showProgress } from "../../src/cli/output/progress.ts";
import { describe as describeActive } from "../../src/cli/tokens/introspect.ts";
import { tokenDecode } from "../../src/cli/tokens/decode.ts";
import { checkLines } from "../../src/cli/output/check-lines.ts";
import { checkClaims } from "../../src/core/tokens/claim-checks.ts";
import { requestLines } from "../../src/cli/start/request-log.ts";
import { seedSummary } from "../../src/cli/start/seed-summary.ts";
import { cells, table } from "../../src/cli/output/table.ts";
import { duration, relative, utcTime } from "../../src/core/time-words.ts";
import type { RequestEvent } from "../../src/core/testing/record.ts";

/** What stands on the screen, to the letter: at most 80 cells wide, and what is to be copied is whole. */

const plain = new Chalk({ level: 0 });

const user = (username: string, more: Partial<Screen["users"]["first"][number]> = {}) => ({
  username,
  email: `${username}@example.test`,
  status: "active" as const,
  password: null,
  ...more,
});

const screen: Screen = {
  version: "0.1.0",
  took: 151.4,
  issuer: "http://localhost:4370",
  inspector: "http://localhost:4370/_idp/?key=k3Y",
  users: { first: [user("alice", { password: "alice" }), user("carol", { status: "suspended" })], all: 2 },
  clients: {
    first: [
      {
        id: "service",
        isPublic: false,
        secret: "s",
        redirectUris: [],
        grantTypes: ["client_credentials"],
      },
      {
        id: "web",
        isPublic: false,
        secret: "web-secret",
        redirectUris: ["http://127.0.0.1:*/cb", "http://localhost:3000/cb"],
        grantTypes: [],
      },
    ],
    all: 9,
  },
  isInEnvFile: false,
  app: {
    id: "web",
    isPublic: false,
    secret: "web-secret",
    redirectUris: ["http://127.0.0.1:*/cb", "http://localhost:3000/cb"],
    grantTypes: [],
  },
  hasLogin: true,
  issuers: { first: [["w1", "http://localhost:4370/i/w1"]], all: 8 },
  listens: null,
  data: [".idp/data.json, kept between runs"],
  fixtures: ["built-in demo", "users 2 added"],
};

test("the first screen", () => {
  expect(firstScreen(screen, plain)).toMatchSnapshot();
});

test("the first screen says that .env.local has the values already", () => {
  expect(firstScreen({ ...screen, isInEnvFile: true }, plain)).toContain(
    "\n  Already in .env.local:\n\n  OIDC_ISSUER=",
  );
});

test("the first screen of a server without users and clients, that took a while", () => {
  const empty = {
    ...screen,
    took: 7578,
    users: { first: [], all: 0 },
    clients: { first: [], all: 0 },
    app: null,
    issuers: { first: [], all: 0 },
    hasLogin: false,
  };
  expect(firstScreen(empty, plain)).toMatchSnapshot();
});

const event: RequestEvent = {
  time: "2026-01-02T03:04:05.000Z",
  method: "POST",
  endpoint: "token",
  path: "/api/v2/oauth/token",
  status: 200,
  ms: 3,
  client: "web",
  user: "alice",
  outcome: "authorization_code",
  id: "r1",
  error: null,
  rule: null,
  fault: null,
  clock: null,
  mismatch: null,
  fix: null,
};

const logged = (more: Partial<RequestEvent>, width = Infinity): string =>
  requestLines({ ...event, ...more }, plain, width).replace(/^\d\d:\d\d:\d\d/, "hh:mm:ss");

test.each([
  ["a token request", {}, "hh:mm:ss  POST token         200  web  alice  authorization_code"],
  [
    "a page",
    { method: "GET", endpoint: "consent", path: "/interaction/Ab3/consent", client: null, outcome: null },
    "hh:mm:ss  GET  consent       200  alice",
  ],
  [
    "the control API",
    { endpoint: "api", path: "/_idp/api/users/bob/suspend", client: null, user: null, outcome: "users.suspend" },
    "hh:mm:ss  POST api users/bob/suspend  200  users.suspend",
  ],
  [
    "metadata",
    {
      method: "GET",
      endpoint: "discovery",
      path: "/idp/.well-known/openid-configuration",
      client: null,
      user: null,
      outcome: null,
    },
    "hh:mm:ss  GET  discovery     200",
  ],
  [
    "any other path",
    { method: "GET", endpoint: "none", path: "/robots.txt", status: 404, client: null, user: null, outcome: null },
    "hh:mm:ss  GET  /robots.txt   404",
  ],
])("the log line of %s", (_what, more, line) => {
  expect(logged(more)).toBe(line);
});

test("a refusal has its reason and the fix below, in lines that fit and words that stay whole", () => {
  const more = {
    status: 400,
    user: null,
    outcome: null,
    error: 'invalid_request: redirect_uri "http://localhost:3001/callback" is not registered for client "web"',
    fix: "idp clients edit web",
  };
  expect(logged(more, 60)).toBe(
    [
      "hh:mm:ss  POST token         400  web",
      "          invalid_request: redirect_uri",
      '          "http://localhost:3001/callback" is not registered',
      '          for client "web"',
      "          fix: idp clients edit web",
    ].join("\n"),
  );
});

test("an address that is not registered stands above those that are, and none of them is broken", () => {
  const sent = `http://localhost:3000/callback/${"x".repeat(60)}`;
  const more = {
    status: 400,
    outcome: null,
    error: `invalid_request: redirect_uri "${sent}" is not registered for client "web"; registered: http://localhost:3000/callback`,
    mismatch: {
      parameter: "redirect_uri",
      sent,
      registered: ["http://localhost:3000/callback", "com.example.app:/cb"],
      rule: "RFC 6749 3.1.2.3",
    },
    fix: `idp clients edit web --add-redirect-uri ${sent}`,
  };
  const lines = [
    "invalid_request: redirect_uri is not registered",
    `asked:      ${sent}`,
    "registered: http://localhost:3000/callback",
    "            com.example.app:/cb",
    `fix: idp clients edit web --add-redirect-uri ${sent}`,
  ];
  expect(logged(more, 80)).toBe(
    ["hh:mm:ss  POST token         400  web  alice", ...lines.map((line) => `          ${line}`)].join("\n"),
  );
  expect(logged({ ...more, mismatch: { ...more.mismatch, registered: [] } }, 80)).toContain("registered: none");
});

test("a note that does not fit goes below, and a fix stays one line, so that its command can be pasted", () => {
  expect(logged({ outcome: 'authorization_code: access, refresh, id for "openid"' }, 80)).toBe(
    'hh:mm:ss  POST token         200  web  alice\n          authorization_code: access, refresh, id for "openid"',
  );
  const fix =
    "Register it: npx dev-idp clients edit web --redirect-uri http://localhost:3000/callback --redirect-uri http://localhost:3001/cb";
  expect(logged({ status: 400, user: null, outcome: null, error: "invalid_request: no", fix }, 60)).toBe(
    ["hh:mm:ss  POST token         400  web", "          invalid_request: no", `          fix: ${fix}`].join("\n"),
  );
});

test("nothing in a request acts upon the terminal", () => {
  expect(logged({ endpoint: "none", path: "/\u001b[2J", client: "a\nb", user: "\u202e", outcome: null })).toBe(
    "hh:mm:ss  POST /\\u001b[2J    200  a\\u000ab  \\u202e",
  );
});

test("a table cuts only what nobody copies, and only to fit a terminal", () => {
  const rows = [
    { id: "user-one", name: "王小明 with a very long name" },
    { id: "b", name: "🦊" },
  ];
  const columns = [
    { title: "ID", value: (row: { id: string }) => row.id },
    { title: "NAME", value: (row: { name: string }) => row.name, shrinks: true as const },
  ];
  expect(table(columns, rows, plain, Infinity)).toBe(
    "ID        NAME\nuser-one  王小明 with a very long name\nb         🦊",
  );
  const narrow = table(columns, rows, plain, 24);
  expect(narrow).toBe("ID        NAME\nuser-one  王小明 with a…\nb         🦊");
  expect(Math.max(...narrow.split("\n").map(cells))).toBeLessThanOrEqual(24);
});

test.each([
  [0, "now"],
  [-59, "59 s ago"],
  [59.6, "in 60 s"],
  [-600, "10 min ago"],
  [7200, "in 2 h"],
  [-259_200, "3 days ago"],
  [-94_672_800, "3 years ago"],
])("%d s from now: %s", (seconds, text) => {
  expect(relative(seconds)).toBe(text);
});

test("times that are no dates are told as such, and lengths in the unit that fits", () => {
  expect(utcTime(1_700_000_000)).toBe("2023-11-14 22:13:20 UTC");
  expect(utcTime(1e300)).toBeNull();
  expect([duration(1800), duration(604_800), duration(-5)]).toEqual(["30 min", "7 days", "5 s"]);
});

/** What a progress bar writes, told of 300 entries, one every `step` milliseconds. */
function barOf(animated: boolean, step: number): string[] {
  let time = 0;
  const written: string[] = [];
  const stderr = { write: (text: string) => written.push(text) };
  const progress = showProgress({ animated, now: () => time, stderr } as unknown as Invocation, "Loading");
  for (let done = 1; done <= 300; done += 1) {
    time += step;
    progress.update(done, 300);
  }
  progress.end();
  return written;
}

test("work that takes longer than a second shows how far it is, and leaves nothing behind", () => {
  expect(barOf(true, 3)).toEqual([]);
  expect(barOf(false, 10)).toEqual([]);
  const bar = barOf(true, 10);
  expect(bar[0]).toBe(`\r\u001b[KLoading  ${"█".repeat(10)}${"░".repeat(20)}  33 %`);
  expect(bar.at(-2)).toBe(`\r\u001b[KLoading  ${"█".repeat(30)}  99 %`);
  expect(bar.at(-1)).toBe("\r\u001b[K");
});

test("the result of a seed is listed by kind, with few names", () => {
  const none = { added: [], changed: [], same: 0 };
  const changed = ["a", "b", "c", "d"].map((name) => ({ name, fields: ["email", "about"] }));
  const result = {
    users: { added: ["x"], changed, same: 2 },
    clients: { ...none, same: 1 },
    scopes: none,
    grants: none,
    settings: none,
  };
  expect(seedSummary(result)).toBe(
    "users 1 added, 4 changed (a: email about, b: email about, c: email about, …), 2 same; clients 1 same",
  );
  expect(seedSummary({ ...result, users: none, clients: none })).toBe("nothing in them");
});

const moment = 1_700_000_000;

/** A token of each kind, as `idp token decode` shows it. */
async function decoded(header: object, claims: object): Promise<string> {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const invocation = { now: () => moment * 1000 } as unknown as Invocation;
  const { text } = await tokenDecode(invocation, `${part(header)}.${part(claims)}.c2ln`);
  return text(plain);
}

const claims = { iss: "http://localhost:4370", sub: "7123456789012345678", iat: moment - 60, exp: moment + 1740 };

test.each([
  [
    "an access token",
    { alg: "HS256", typ: "at+jwt", kid: "Np0FUhgdZMM" },
    { ...claims, client_id: "demo-app", scope: "openid email orders:read", aud: ["https://api.test", "x"] },
  ],
  ["an expired refresh token", { alg: "HS256", typ: "rt+jwt" }, { ...claims, exp: moment - 259_200, generation: 1 }],
  ["an ID token that is not valid yet", { alg: "RS256", typ: "JWT" }, { ...claims, nonce: "n", nbf: moment + 3600 }],
])("what %s says", async (_kind, header, said) => {
  const screen = await decoded(header, said);
  expect(Math.max(...screen.split("\n").map(cells))).toBeLessThanOrEqual(80);
  expect(screen).toMatchSnapshot();
});

test("the checks of a token, each on its line, a long one going on below", () => {
  const expected = { issuer: "http://localhost:4370", audience: "https://api.test", leeway: 5, now: moment * 1000 };
  const bad = { iss: "https://wrong-issuer.invalid", aud: "https://wrong-audience.invalid", nbf: moment + 3600 };
  const checks = [
    ...checkClaims({ ...claims, aud: "https://api.test" }, expected),
    ...checkClaims({ ...claims, ...bad, exp: moment - 259_200 }, expected),
    ...checkClaims({ ...claims, exp: moment - 3, iat: moment + 3 }, expected),
  ];
  const screen = checkLines(checks, plain, 80);
  expect(Math.max(...screen.split("\n").map(cells))).toBeLessThanOrEqual(80);
  expect(screen).toMatchSnapshot();
});

test("what an active token is good for", () => {
  const { iat, exp, ...said } = claims;
  const shown = { active: true, token_type: "Bearer", ...said, scope: "openid email", iat, exp };
  expect(describeActive(shown, plain, moment * 1000)).toMatchSnapshot();
  expect(describeActive({ active: false, reason: "it expired" }, plain, moment * 1000)).toBe("inactive");
});

test("a list with very long names: nothing is cut that is to be copied, and the other rows keep their columns", () => {
  const long = `${"a.very.long.name.".repeat(4)}of@subsidiary.example.com`;
  const rows = [
    ["alice", "alice@example.test", "active", "Alice Adams"],
    [long, `mail.${long}`, "active", "Maximiliane-Charlotte von und zu Hohenlohe-Langenburg"],
    ["bob", `bob.${"b".repeat(60)}@example.test`, "banned", "Bob Brown"],
  ];
  const titles = ["USERNAME", "EMAIL", "STATUS", "NAME"];
  const columns = titles.map((title, index) => ({
    title,
    value: (row: readonly string[]) => row[index] ?? "",
    ...(title === "NAME" && { shrinks: true as const }),
  }));
  expect(table(columns, rows, plain, 80)).toMatchSnapshot();
  // Where a program reads it, a row is a line.
  expect(table(columns, rows, plain, Infinity).split("\n")).toHaveLength(4);
});

test("a client with several redirect URIs: one below the other, and off a terminal on its line", () => {
  const uris = [
    "http://localhost:3000/callback",
    `https://staging.example.com/${"apps/".repeat(12)}cb`,
    "com.example.app:/cb",
  ];
  const rows = [
    { id: "demo-app", uris },
    { id: "shop", uris: ["http://localhost:8080/cb"] },
  ];
  const columns = [
    { title: "CLIENT", value: ({ id }: (typeof rows)[number]) => id },
    { title: "REDIRECT URIS", value: (row: (typeof rows)[number]) => row.uris.join("\n") },
  ];
  expect(table(columns, rows, plain, 80)).toMatchSnapshot();
  expect(table(columns, rows, plain, Infinity)).toContain(uris.join(" "));
});

test("the first screen with a long address: the lines of the others stay as they are", () => {
  const long = `${"name.".repeat(14)}@example.test`;
  const users = [user("alice", { password: "alice" }), user("erin", { email: long, status: "banned" })];
  expect(firstScreen({ ...screen, users: { first: users, all: 2 } }, plain)).toMatchSnapshot();
});
