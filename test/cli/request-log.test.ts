import { Chalk } from "chalk";
import { expect, test } from "vitest";
import { printableJson } from "../../src/cli/output/escape.ts";
import { requestLines, timedLines, type LoggedRequest } from "../../src/cli/commands/start/request-log.ts";
import type { RequestEvent } from "../../src/core/testing/ledger/request-json.ts";

/** The request log of `idp start`, to the letter: at most 80 cells wide, and what is to be copied is whole. */

const plain = new Chalk({ level: 0 });

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

const loggedOf = ({ mismatch, ...one }: RequestEvent): LoggedRequest => ({
  ...one,
  compared: mismatch && { ...mismatch, code: "invalid_request" },
  hasCommand: one.fix?.includes("idp ") === true,
});

const logged = (more: Partial<RequestEvent>, width = Infinity): string =>
  requestLines(loggedOf({ ...event, ...more }), plain, width).replace(/^\d\d:\d\d:\d\d/, "hh:mm:ss");

test.each([
  ["a token request", {}, "hh:mm:ss  POST token         200  web  alice  authorization_code"],
  [
    "a page",
    { method: "GET", endpoint: "consent", path: "/interaction/Ab3/consent", client: null, outcome: null },
    "hh:mm:ss  GET  consent       200  alice",
  ],
  [
    "a request from another machine",
    { address: "198.51.100.7" },
    "hh:mm:ss  POST token         200  web  alice  from 198.51.100.7  authorization_code",
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

test("an address that is not registered is printed above those that are, each on one line", () => {
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

test("a fix without a command wraps, and so does what the log says of fixtures", () => {
  const fix = "the token is in lock.json of the data folder; IDP_ADMIN_TOKEN at the start sets it";
  expect(logged({ status: 401, user: null, outcome: null, error: "missing_token: no", fix }, 80).split("\n")).toEqual([
    "hh:mm:ss  POST token         401  web",
    "          missing_token: no",
    "          fix: the token is in lock.json of the data folder; IDP_ADMIN_TOKEN at",
    "          the start sets it",
  ]);
  const changed = "fixtures/shop.yaml, fixtures/users.yaml: users 1 changed (frank: displayName claims), 1 same";
  expect(timedLines("hh:mm:ss", `${changed}\n  no longer in them: user bob`, 80).split("\n")).toEqual([
    "hh:mm:ss  fixtures/shop.yaml, fixtures/users.yaml: users 1 changed (frank:",
    "          displayName claims), 1 same",
    "          no longer in them: user bob",
  ]);
});

test("nothing in a request acts on the terminal", () => {
  expect(logged({ endpoint: "none", path: "/\u001b[2J", client: "a\nb", user: "\u202e", outcome: null })).toBe(
    "hh:mm:ss  POST /\\u001b[2J    200  a\\u000ab  \\u202e",
  );
});

/** Each kind of line. */
const kinds: Readonly<Record<string, Partial<RequestEvent>>> = {
  refused: {
    status: 400,
    outcome: null,
    error: "invalid_grant: code was already used 3 s ago",
    rule: "RFC 6749 4.1.2",
    fix: "npx dev-idp requests show r1",
  },
  "refused, compared": {
    status: 400,
    endpoint: "authorize",
    outcome: null,
    error: 'invalid_request: redirect_uri "http://localhost:3000/cb/" is not registered',
    mismatch: {
      parameter: "redirect_uri",
      sent: "http://localhost:3000/cb/\u001b[2J",
      registered: ["http://localhost:3000/cb"],
    },
  },
  faulty: { status: 503, fault: "f1 answers 503", outcome: null, clock: 1860 },
  "wide characters": {
    user: "渡辺",
    client: "café",
    outcome: "認可コード: アクセス, リフレッシュ トークン, 身分証明 トークン",
  },
  "an escape sequence in a name": {
    user: "al\u001b]0;title\u0007ice",
    client: "a\u202eb",
    path: "/x\u009b1m",
    endpoint: "none",
  },
};

test.each(Object.keys(kinds))("%s, in a pipe, on a terminal and as JSON", (kind) => {
  const one = { ...event, ...kinds[kind] };
  const time = /\d\d:\d\d:\d\d(?=\D)/;
  const lines = [
    requestLines(loggedOf(one), plain, Infinity),
    requestLines(loggedOf(one), new Chalk({ level: 1 }), 60),
    printableJson({ event: "request", ...one }, 0),
  ];
  expect(lines.map((line) => line.replace(time, "hh:mm:ss")).join("\n")).toMatchSnapshot();
});
