import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { control as controlCase } from "../../src/client/app-check/cases/control.ts";
import { allCases } from "../../src/client/app-check/cases/list.ts";
import type { Case } from "../../src/client/app-check/case.ts";
import { runCases, type RunResult } from "../../src/client/app-check/run.ts";
import { smallBrowser } from "../../src/client/app-check/small-browser.ts";
import { controlOf } from "../../src/cli/check/control.ts";
import { flawList } from "../../src/core/testing/faults/flaw-list.ts";
import { createIdp } from "../../src/index.ts";
import { randomText } from "../../src/random.ts";
import { CarefulApp, serveApp, type AppConfig, type Neglect } from "../helpers/careful-app.ts";
import { atEnd } from "../helpers/at-end.ts";

/** `idp check client` on an app that neglects one thing at a time: exactly that goes unnoticed. */

/** The time between two fetches of the keys, in milliseconds, is passed over: this app waits for none. */
const wait = (milliseconds: number): Promise<unknown> => delay(milliseconds < 10_000 ? milliseconds : 0);

let app: CarefulApp | null = null;
const { url, close } = await serveApp(0, () => app);
atEnd(close);
const redirectUri = `${url}/callback`;
const clientSecret = "the-secret-of-the-app-under-test";
const idp = await createIdp({
  port: 0,
  fixtures: {
    users: [{ username: "alice" }],
    clients: [{ client_id: "app", client_secret: clientSecret, redirect_uris: [redirectUri] }],
  },
});
atEnd(() => idp.close());

type Way = Partial<Pick<AppConfig, "responseMode" | "pushes">>;

async function check(cases: readonly Case[], neglects?: Neglect, way: Way = {}): Promise<RunResult> {
  const start = async (): Promise<string | null> => {
    const config = { issuer: idp.issuer, clientId: "app", clientSecret, redirectUri, ...way };
    app = await CarefulApp.create({ ...config, ...(neglects !== undefined && { neglects }) }).catch(() => null);
    return app === null ? "the app did not start" : null;
  };
  await idp.reset();
  await start();
  const people = { issuer: idp.issuer, client: "app", redirectUris: [redirectUri], user: "alice", isOwn: true };
  const control = controlOf({ url: idp.issuer, adminToken: idp.adminToken }, people);
  const places = { issuer: idp.issuer, redirectUris: [redirectUri], origins: [url], user: "alice" };
  return runCases(
    {
      app: { start: `${url}/login`, signedIn: `${url}/me`, signedInText: null, signOut: `${url}/logout` },
      ...{ control, wait, now: Date.now, random: randomText, restart: start, onResult: () => undefined },
      newBrowser: () => Promise.resolve(smallBrowser(places, Date.now)),
    },
    controlCase,
    cases,
  );
}

const named = ({ cases }: RunResult, verdict: string): readonly string[] =>
  cases.filter((one) => one.verdict === verdict).map(({ name }) => name);

test("an app that checks everything passes, and every case is reached", async () => {
  const result = await check(allCases);
  expect(named(result, "unnoticed")).toEqual([]);
  expect(named(result, "not-reached")).toEqual([]);
  expect(named(result, "not-required")).toEqual(["id-token.at-hash-wrong", "token.scope-wider"]);
  expect(result.passed).toBe(true);
  expect(result.cases).toHaveLength(allCases.length + 2);
});

/** They wait, start the app again or make keys: they run where they are about what is neglected. */
const isSlow = ({ name }: Case): boolean => /^(retry|keys|discovery)|kid-unknown/.test(name);

/** Flaws of responses, and properties of the app itself, are two halves of the cases. */
const isFlaw = (name: string): boolean => name.includes(".");
const isBeside = ({ name }: Case, expected: readonly string[]): boolean =>
  expected.length === 0 || expected.some((one) => isFlaw(one) === isFlaw(name));

const neglected: readonly [Neglect, ...string[]][] = [
  ["state", "response.state-missing", "response.state-wrong"],
  ["iss", "response.iss-missing", "response.iss-wrong", "mix-up"],
  ["code-missing", "response.code-missing"],
  ["code-twice", "response.code-twice"],
  ["error", "response.error-and-code"],
  ["error-loop", "error-answer"],
  ["nonce", "id-token.nonce-wrong", "id-token.nonce-missing"],
  ["id-token", "id-token.id-token-missing"],
  ["alg", "id-token.alg-none"],
  ["signature"],
  ["id-iss", "id-token.iss-wrong"],
  ["aud", "id-token.aud-wrong"],
  ["aud-extra", "id-token.aud-extra"],
  ["exp", "id-token.exp-past"],
  ["iat", "id-token.iat-missing"],
  ["sub", "id-token.sub-missing"],
  ["pkce", "pkce"],
  ["pkce-fresh", "pkce-fresh"],
  ["state-fresh", "state-fresh"],
  ["nonce-fresh", "nonce-fresh"],
  ["redirect-uri", "redirect-uri"],
  ["token-type", "token.token-type-wrong"],
  ["expires-in", "token.expires-in-missing"],
  ["refresh-token", "token.refresh-token-missing"],
  ["userinfo-sub", "userinfo.sub-wrong", "userinfo.sub-missing"],
  ["browser", "login-csrf"],
  ["replay", "callback-replayed"],
  ["return-to", "open-redirect"],
  ["token-in-url", "token-in-url"],
  ["refresh", "refresh-refused"],
  ["revoked", "access-revoked"],
];

test.each(neglected.map(([neglect, ...expected]) => ({ neglect, expected })))(
  "an app that neglects $neglect does not notice exactly that",
  async ({ neglect, expected }) => {
    const result = await check(
      allCases.filter((one) => !isSlow(one) && isBeside(one, expected)),
      neglect,
    );
    expect(named(result, "unnoticed")).toEqual(expected);
  },
);

const few = [
  ...["pkce", "pkce-fresh", "state-fresh", "nonce-fresh", "redirect-uri", "response.iss-wrong", "mix-up"],
  ...["login-csrf", "callback-replayed", "id-token.nonce-wrong"],
];
const fewCases = allCases.filter(({ name }) => few.includes(name));

test.each([{ responseMode: "form_post" }, { pushes: true }] as const)("the same is found with %o", async (way) => {
  const careful = await check(fewCases, undefined, way);
  expect(named(careful, "noticed")).toHaveLength(few.length);
  expect(named(await check(fewCases, "state-fresh", way), "unnoticed")).toEqual(["state-fresh"]);
});

test("a response in the fragment needs a browser with scripts", async () => {
  const { cases } = await check(fewCases, undefined, { responseMode: "fragment" });
  expect(cases[0]).toMatchObject({ verdict: "not-reached", did: expect.stringContaining("--browser") });
});

test("every flaw has a case, and every case a name of its own", () => {
  const names = allCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const ofFlaws = flawList.map(({ place, name }) => `${place}.${name}`);
  expect(names.filter((name) => name.includes(".")).sort()).toEqual([...ofFlaws].sort());
  expect(names.at(-1)).toBe("keys-rotated");
});

/** Cases that say nothing of the app's security: it may give up. */
test("an app that does not try again is not required to", async () => {
  const result = await check(
    allCases.filter(({ name }) => name.startsWith("retry-")),
    "retry",
  );
  expect(named(result, "not-required")).toEqual(["retry-503", "retry-429"]);
  expect(result.passed).toBe(true);
});

test.each([
  ["keys-empty", "keys.keys-empty"],
  ["discovery", "discovery.issuer-mismatch"],
] as const)("an app that neglects %s of the documents does not notice exactly that", async (neglect, expected) => {
  const result = await check(
    allCases.filter(({ name }) => /^(keys|discovery)/.test(name)),
    neglect,
  );
  expect(named(result, "unnoticed")).toEqual([expected]);
});

test("an app that never fetches the keys again signs nobody in after a rotation, not even later", async () => {
  const result = await check(
    allCases.filter(({ name }) => name.includes("keys-rotated")),
    "keys",
  );
  expect(named(result, "unnoticed")).toEqual(["keys.keys-rotated"]);
  // From there on it does not sign in at all.
  expect(named(result, "not-reached")).toEqual(["keys-rotated", "control"]);
});
