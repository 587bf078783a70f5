import { expect, test } from "vitest";
import { allCases, casesFor } from "../../src/client/api-check/cases/list.ts";
import { checkApi } from "../../src/client/api-check/run.ts";
import type { RunResult } from "../../src/client/verdicts/run.ts";
import { apiControlOf } from "../../src/cli/check/api-control.ts";
import { nearLookup, requireNear } from "../../src/cli/check/flags.ts";
import { Opened } from "../../src/cli/check/opened.ts";
import { createIdp } from "../../src/index.ts";
import { CarefulApi, serveApi, type ApiConfig, type ApiNeglect } from "../helpers/careful-api.ts";
import { atEnd } from "../helpers/at-end.ts";

/** `idp check api` on an API that neglects something: exactly that goes unnoticed. */

let api: CarefulApi | null = null;
const { origin, close } = await serveApi(0, () => api);
atEnd(close);
const introspects = { clientId: "api", clientSecret: "the-secret-of-the-api-under-test" };
const audience = "https://api.test";
const needsScope = "orders:read";
const idp = await createIdp({
  port: 0,
  fixtures: {
    users: [{ username: "alice" }],
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
  const tokens = { audience: mcp ? url : audience, scope: `openid ${needsScope}` };
  const config = { ...way, issuer: idp.issuer, audience: tokens.audience, url, neglects, needsScope };
  const start = async (): Promise<string | null> => {
    api = await CarefulApi.create(config).catch(() => null);
    return api === null ? "the API did not start" : null;
  };
  await idp.reset();
  await start();
  const opened = new Opened();
  const server = { url: idp.issuer, adminToken: idp.adminToken };
  const people = { issuer: idp.issuer, user: "alice", client: "app", isOwn: true };
  try {
    return await checkApi(
      {
        api: { url, method: mcp ? "POST" : "GET", needsScope, dpop, mcp },
        control: await apiControlOf(server, people, tokens, opened),
        ...{ restart: restarts ? start : null, lookup: nearLookup(undefined), accepted: new Map() },
        onResult: ({ name }) => shown.push(name),
        mayRead: (address) => {
          requireNear(address, undefined);
        },
        // Nothing has to wait: this API fetches keys as often as it needs them.
        ...{ now: Date.now, wait: () => Promise.resolve(), startLimit: 30_000, caseLimit: 60_000 },
      },
      casesFor({ needsScope, dpop, mcp }).filter(({ name }) => isMeant(name)),
    );
  } finally {
    await opened.close();
  }
}

const named = ({ cases }: RunResult, verdict: string): readonly string[] =>
  cases.filter((one) => one.verdict === verdict).map(({ name }) => name);

/** They make RSA keys, so they run only for APIs that neglect their check. */
const slow = ["kid-unknown", "key-embedded", "other-issuer", "keys-rotated"];

test("an API that checks everything passes, and every case is reached", async () => {
  const result = await check();
  expect(named(result, "unnoticed")).toEqual([]);
  expect(named(result, "not-reached")).toEqual([]);
  expect(named(result, "not-required")).toEqual(["revoked", "user-suspended", "token-twice"]);
  expect(named(result, "works")).toEqual(["control", "keys-rotated", "control-again"]);
  expect(result.passed).toBe(true);
});

/** What an API neglects, and the cases that find it. */
const local: readonly (readonly [neglects: readonly ApiNeglect[], unnoticed: readonly string[]])[] = [
  [["challenge"], ["no-token", "challenge", "scope-missing"]],
  [["redirect"], ["no-token"]],
  [["challenge-error"], ["challenge", "scope-missing"]],
  [["malformed"], ["malformed"]],
  [["scheme"], ["scheme-wrong"]],
  [["exp"], ["expired"]],
  [["nbf"], ["not-yet"]],
  [["signature"], ["signature-wrong", "payload-changed", "signature-missing", "key-embedded", "kid-unknown"]],
  [["alg-none"], ["alg-none"]],
  [["alg-case"], ["alg-none-mixed-case"]],
  [["alg-confusion"], ["alg-confusion"]],
  [["jwk"], ["key-embedded"]],
  [["kid"], ["key-embedded", "kid-unknown"]],
  [["iss"], ["iss-wrong", "iss-missing"]],
  [["iss-fetch"], ["iss-wrong", "iss-missing", "other-issuer"]],
  [["aud"], ["aud-wrong", "aud-missing"]],
  [["exp-missing"], ["exp-missing"]],
  [["typ"], ["typ-wrong"]],
  [
    ["typ", "aud"],
    ["aud-wrong", "aud-missing", "id-token", "typ-wrong"],
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
  name.startsWith("dpop-") || ["no-token", "expired", "challenge"].includes(name);

test.each([
  [[], []],
  [["as-bearer"], ["dpop-as-bearer"]],
  [["htm"], ["dpop-method"]],
  [["htu"], ["dpop-url"]],
  [["ath"], ["dpop-token"]],
  [["jti"], ["dpop-replayed"]],
  [["jkt"], ["dpop-key"]],
] as const)("with DPoP, an API that neglects %j does not notice exactly %j", async (neglects, expected) => {
  const result = await check(neglects, { dpop: true }, isDpop);
  expect(named(result, "unnoticed")).toEqual(expected);
  expect(named(result, "not-reached")).toEqual([]);
});

test("an API may ask for a nonce in proofs", async () => {
  const result = await check([], { dpop: true, nonce: "n-1" }, isDpop);
  expect(named(result, "noticed")).toHaveLength(9);
});

test.each([
  [[], []],
  [["resource-metadata"], ["metadata"]],
  [["resource"], ["metadata-resource"]],
  [["authorization-servers"], ["metadata-issuer"]],
] as const)("an MCP server that neglects %j does not notice exactly %j", async (neglects, expected) => {
  const result = await check(neglects, { mcp: true }, (name) => name.startsWith("metadata"));
  expect(named(result, "unnoticed")).toEqual(expected);
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
