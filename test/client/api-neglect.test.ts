import { expect, onTestFinished, test } from "vitest";
import type { Api } from "../../src/check/api/attempt.ts";
import { allCases, casesFor } from "../../src/check/api/cases/list.ts";
import { claimsOf, headerOf } from "../../src/check/shared/tokens.ts";
import { runApi } from "../../src/check/api/check.ts";
import type { RunResult } from "../../src/check/frame/run.ts";
import { apiControlOf } from "../../src/check/api/control.ts";
import { nearLookup, requireNear } from "../../src/check/frame/near.ts";
import { Opened } from "../../src/check/frame/opened.ts";
import { createIdp } from "../../src/index.ts";
import { checkRun } from "../helpers/check-run.ts";
import { CarefulApi, type ApiConfig, type ApiNeglect } from "../helpers/careful-api.ts";
import { atEnd } from "../helpers/at-end.ts";
import { serveApp } from "../helpers/serve-app.ts";

/** `idp check api` on an API that neglects something: exactly that goes unnoticed. */

let api: CarefulApi | null = null;
const { url: origin, close } = await serveApp(0, () => api);
atEnd(close);
const introspects = { clientId: "api", clientSecret: "the-secret-of-the-api-under-test" };
const audience = "https://api.test";
const needsScope = "orders:read";
const needsAcr = "urn:example:strong";
const idp = await createIdp({
  port: 0,
  fixtures: {
    users: [{ username: "alice" }, { username: "bob" }],
    clients: [
      { client_id: "app", redirect_uris: ["http://localhost/callback"] },
      {
        ...{ client_id: introspects.clientId, client_secret: introspects.clientSecret },
        grant_types: ["client_credentials"],
      },
    ],
    scopes: { [needsScope]: {} },
    settings: { access_token_alg: "RS256" },
  },
});
atEnd(() => idp.close());

type Way = Partial<Pick<ApiConfig, "introspects" | "dpop" | "nonce" | "mcp">>;

async function check(
  neglects: readonly ApiNeglect[] = [],
  way: Way = {},
  isMeant: (name: string) => boolean = () => true,
  { restarts = true, shown = [] as string[] } = {},
): Promise<RunResult> {
  const { mcp = false, dpop = false } = way;
  const url = `${origin}/${mcp ? "mcp" : "orders"}`;
  const tokens = {
    ...{ audience: mcp ? url : audience, scope: `openid ${needsScope}` },
    ...{ claims: { acr: needsAcr }, needsAuthTime: true },
  };
  // An API that asks introspection takes what it says.
  const asks = way.introspects === undefined ? { needsScope, needsAcr, maxAge: 60, usersOnly: true } : { needsScope };
  const config = { ...way, ...asks, issuer: idp.issuer, audience: tokens.audience, url, neglects };
  const start = async (): Promise<string | null> => {
    api = await CarefulApi.create(config).catch(() => null);
    return api === null ? "the API did not start" : null;
  };
  await idp.reset();
  await start();
  const opened = new Opened();
  const server = { url: idp.issuer, adminToken: idp.adminToken };
  const people = { issuer: idp.issuer, user: "alice", otherUser: "bob", client: "app", isOwn: true };
  const asked: Api = {
    ...{ needsAcr: null, maxAge: null, usersOnly: false, ...asks, url, method: mcp ? "POST" : "GET", dpop, mcp },
    ...{ ownedUrl: `${origin}/users/{user}/orders`, ownedBy: "sub" },
  };
  try {
    return await runApi(
      {
        api: asked,
        control: await apiControlOf(server, people, tokens, opened),
        ...{ ...checkRun, restart: restarts ? start : null, lookup: nearLookup(undefined) },
        onResult: ({ name }) => shown.push(name),
        mayRead: (address) => {
          requireNear(address, undefined);
        },
        // Nothing has to wait: this API fetches keys as often as it needs them.
        wait: () => Promise.resolve(),
      },
      casesFor(asked).filter(({ name }) => isMeant(name)),
    );
  } finally {
    await opened.close();
  }
}

const named = ({ cases }: RunResult, verdict: string): readonly string[] =>
  cases.filter((one) => one.verdict === verdict).map(({ name }) => name);

/** What must not happen is said to have happened only where it did. */
function expectAgreement({ cases }: RunResult): void {
  for (const { verdict, name, did, mustNot } of cases) {
    if (verdict !== "unnoticed") continue;
    const letsIn = / (lets a request in|let in|is accepted)\b/.test(mustNot);
    expect([name, mustNot, letsIn]).toEqual([name, mustNot, did.startsWith("let it in")]);
  }
}

/** They make RSA keys, so they run only for APIs that neglect their check. */
const slow = ["kid-unknown", "key-embedded", "jku-fetched", "other-issuer", "keys-rotated"];

test("an API that checks everything passes, and every case is reached", async () => {
  const result = await check();
  expect(named(result, "unnoticed")).toEqual([]);
  expect(named(result, "not-reached")).toEqual([]);
  expect(named(result, "not-required")).toEqual(["revoked", "user-suspended", "token-twice"]);
  expect(named(result, "works")).toEqual(["control", "aud-list", "keys-rotated", "control-again"]);
  expect(result.passed).toBe(true);
});

/** What an API neglects, and the cases that find it. */
const local: readonly (readonly [neglects: readonly ApiNeglect[], unnoticed: readonly string[]])[] = [
  [["challenge"], ["no-token", "challenge", "scope-missing", "acr-missing", "auth-time-old"]],
  [["redirect"], ["no-token"]],
  [["challenge-error"], ["challenge", "scope-missing", "acr-missing", "auth-time-old"]],
  [["malformed"], ["malformed"]],
  [["scheme"], ["scheme-wrong"]],
  [["exp"], ["expired", "expired-10m"]],
  [["leeway"], ["expired-10m"]],
  [["aud-text"], ["aud-list"]],
  [["jku"], ["jku-fetched"]],
  [["jku-fetch"], ["jku-fetched"]],
  [["kid-file"], ["kid-path"]],
  [["owner"], ["other-user"]],
  [["owner-redirect"], ["other-user"]],
  [["acr"], ["acr-missing"]],
  [["acr-absent"], ["acr-missing"]],
  [["auth-time"], ["auth-time-old"]],
  [["acr-error"], ["acr-missing", "auth-time-old"]],
  [["service"], ["service-token"]],
  [["nbf"], ["not-yet"]],
  [
    ["signature"],
    ["signature-wrong", "payload-changed", "signature-missing", "key-embedded", "kid-unknown", "jku-fetched"],
  ],
  [["alg-none"], ["alg-none"]],
  [["alg-case"], ["alg-none-mixed-case"]],
  [["alg-confusion"], ["alg-confusion"]],
  [["jwk"], ["key-embedded"]],
  [["kid"], ["key-embedded", "kid-unknown", "jku-fetched"]],
  [["iss"], ["iss-wrong", "iss-missing", "iss-prefix"]],
  [["crit"], ["crit"]],
  [["iss-prefix"], ["iss-prefix"]],
  [["iss-slash"], ["iss-slash"]],
  [["aud-contains"], ["aud-contains"]],
  [["iss-fetch"], ["iss-wrong", "iss-missing", "iss-prefix", "other-issuer"]],
  [["aud"], ["aud-wrong", "aud-missing", "aud-contains"]],
  [["exp-missing"], ["exp-missing"]],
  [["typ"], ["typ-wrong"]],
  [
    ["typ", "aud"],
    ["aud-wrong", "aud-missing", "aud-contains", "id-token", "typ-wrong"],
  ],
  [["scope"], ["scope-missing"]],
  [["scope-error"], ["scope-missing"]],
  [["query"], ["token-in-query"]],
  [["body"], ["token-twice"]],
  [["fail-open"], ["issuer-down"]],
  [["keys"], ["keys-rotated"]],
];

test.each(local)("an API that neglects %j does not notice exactly %j", async (neglects, expected) => {
  const result = await check(neglects, {}, (name) => expected.includes(name) || !slow.includes(name));
  expect(named(result, "unnoticed").toSorted()).toEqual(expected.toSorted());
  expect(named(result, "works")).toContain("control-again");
  expectAgreement(result);
});

test("an API that refuses, but in another way than it has to, is not said to let anybody in", async () => {
  const { cases } = await check(["scheme-400", "forbidden", "malformed"], {}, (name) =>
    /^(sch|expired$|exp-|mal)/.test(name),
  );
  const texts = cases.flatMap(({ verdict, name, did, mustNot, fix }) =>
    verdict === "works" ? [] : [[name, did, mustNot, fix]],
  );
  expect(texts).toEqual([
    [
      ...["malformed", "failed instead of refusing: answered 500 to not-a-token"],
      ...["the API fails, where it has to refuse", "turn every error of the code that reads tokens into a 401"],
    ],
    [
      ...["scheme-wrong", "answered 400 to Basic, and must answer 401, or 400 invalid_request"],
      "the refusal is not the one that the standard asks for",
      "answer 401, or 400 invalid_request in the place that refuses",
    ],
    [
      ...["expired", "answered 403 invalid_token, and must answer 401"],
      ...["the refusal is not the one that the standard asks for", "answer 401 in the place that refuses"],
    ],
    [
      expect.stringMatching("exp-missing"),
      expect.anything(),
      expect.anything(),
      "answer 401 in the place that refuses",
    ],
  ]);
});

test("what went unnoticed stays, also where a good token is refused afterwards", async () => {
  const shown: string[] = [];
  const isMeant = (name: string): boolean => ["keys-rotated", "expired"].includes(name);
  const { cases, passed } = await check(["keys", "forbidden"], {}, isMeant, { restarts: false, shown });
  expect(cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["expired", "unnoticed"],
    ["keys-rotated", "unnoticed"],
    ["control-again", "not-reached"],
  ]);
  expect([passed, shown]).toEqual([false, cases.map(({ name }) => name)]);
});

test.each([
  ["it fails at that request, which is a finding", ["dies-at-nbf", "malformed"], "unnoticed"],
  ["it refuses that request, which says nothing then", ["dies-at-nbf"], "not-reached"],
] as const)("an API that refuses good tokens after a wrong request: %s", async (_what, neglects, verdictOfIt) => {
  const shown: string[] = [];
  const isMeant = (name: string): boolean => ["expired", "not-yet", "alg-none"].includes(name);
  const { cases } = await check(neglects, {}, isMeant, { shown });
  expect(cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["expired", "noticed"],
    ["not-yet", verdictOfIt],
    ["alg-none", "not-reached"],
    ["control-again", "not-reached"],
  ]);
  expect(cases[3]?.did).toBe("not run: see not-yet");
  expect(shown).toEqual(["control", "expired", "not-yet", "control-again"]);
});

test("an API that refuses a good token: one case is shown, and the others are not run", async () => {
  const shown: string[] = [];
  const { cases, passed } = await check(["nothing-is-good"], {}, () => true, { shown });
  expect([passed, shown]).toEqual([false, ["control"]]);
  expect(cases.every(({ verdict }) => verdict === "not-reached")).toBe(true);
  expect(cases.length).toBeGreaterThan(20);
});

test("a refusal with 403 in place of 401 is not one", async () => {
  const { cases } = await check(["forbidden"], {}, (name) => name === "expired");
  expect(cases[1]).toMatchObject({ verdict: "unnoticed", did: expect.stringContaining("answered 403") });
});

test("an API that asks introspection notices what ended", async () => {
  const careful = await check([], { introspects }, (name) => !slow.includes(name));
  expect(named(careful, "unnoticed")).toEqual([]);
  expect(named(careful, "noticed")).toEqual(expect.arrayContaining(["revoked", "user-suspended", "issuer-down"]));
  const isMeant = (name: string): boolean => ["refresh-token", "revoked", "user-suspended", "expired"].includes(name);
  expect(named(await check(["token-type"], { introspects }, isMeant), "unnoticed")).toEqual(["refresh-token"]);
});

const isDpop = (name: string): boolean =>
  name.startsWith("dpop-") || /^(no-token|expired|challenge|scheme-wrong|token-in-query|token-twice)$/.test(name);

test.each([
  [[], []],
  [["as-bearer"], ["dpop-as-bearer"]],
  // The proof is right, so that nothing else lets the API refuse.
  [["scheme"], ["scheme-wrong", "dpop-as-bearer"]],
  [["query"], ["token-in-query"]],
  [["body"], ["token-twice"]],
  [["htm"], ["dpop-method"]],
  [["htu"], ["dpop-url"]],
  [["ath"], ["dpop-token"]],
  [["jti"], ["dpop-replayed"]],
  [["jkt"], ["dpop-key"]],
] as const)("with DPoP, an API that neglects %j does not notice exactly %j", async (neglects, expected) => {
  const result = await check(neglects, { dpop: true }, isDpop);
  expect(named(result, "unnoticed")).toEqual(expected);
  const found = result.cases.filter(({ verdict }) => verdict === "unnoticed");
  expect(found.map(({ did }) => did.split(":")[0])).toEqual(found.map(() => "let it in"));
  expectAgreement(result);
  expect(named(result, "not-reached")).toEqual([]);
});

test("an API may ask for a nonce in proofs", async () => {
  const result = await check([], { dpop: true, nonce: "n-1" }, isDpop);
  expect(named(result, "noticed")).toHaveLength(11);
});

test.each([
  [[], []],
  [["resource-metadata"], ["metadata"]],
  [["resource"], ["metadata-resource"]],
  [["authorization-servers"], ["metadata-issuer"]],
] as const)("an MCP server that neglects %j does not notice exactly %j", async (neglects, expected) => {
  const result = await check(neglects, { mcp: true }, (name) => name.startsWith("metadata"));
  expect(named(result, "unnoticed")).toEqual(expected);
  expectAgreement(result);
});

test("the token of another issuer differs from a good one in nothing else", async () => {
  const api = "https://orders.test";
  const other = await createIdp({
    port: 0,
    fixtures: {
      users: [{ username: "alice" }],
      clients: [{ client_id: "app", redirect_uris: ["http://localhost/callback"], audience: api }],
      settings: { access_token_alg: "RS256", access_token_typ: "JWT" },
    },
  });
  onTestFinished(() => other.close());
  const opened = new Opened();
  const server = { url: other.issuer, adminToken: other.adminToken };
  const people = { issuer: other.issuer, user: "alice", otherUser: null, client: "app", isOwn: true };
  const tokens = { audience: undefined, scope: "openid", claims: {}, needsAuthTime: false };
  const control = await apiControlOf(server, people, tokens, opened);
  const [good, foreign] = [await control.issue({}), await control.issueElsewhere({})];
  const parts = (token: string) => {
    const { kid: _kid, ...header } = headerOf(token);
    const { aud, sub, scope, client_id } = claimsOf(token);
    return { header, aud, sub, scope, client_id };
  };
  expect(parts(foreign)).toEqual(parts(good));
  expect(parts(good)).toMatchObject({ header: { typ: "JWT" }, aud: api });
  expect(claimsOf(foreign)["iss"]).not.toBe(claimsOf(good)["iss"]);
  await opened.close();
});

test("every case has a unique name, and keys are rotated last", () => {
  const names = allCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.at(-1)).toBe("keys-rotated");
});

test("an address that is not near is not read, whatever the API says", () => {
  expect(() => {
    requireNear("http://192.0.2.1/metadata", undefined);
  }).toThrow("neither this machine nor a private network");
});
