import { expect, test } from "vitest";
import type { Attempt } from "../../src/check/client/attempt.ts";
import { accountCases } from "../../src/check/client/cases/account.ts";
import { allCases as everyCase } from "../../src/check/client/cases/list.ts";
import { noticed, type Case } from "../../src/check/frame/verdict.ts";
import { flawList } from "../../src/core/testing/controls/faults/flaw-list.ts";
import type { Neglect } from "../helpers/careful-app.ts";
import { checkRun } from "../helpers/check-run.ts";
import { checkedApp, named } from "../helpers/checked-app.ts";

/** `idp check client` on an app that neglects something: exactly that goes unnoticed. */

const check = await checkedApp();

/** account-neglect.test.ts has those of the account. */
const allCases = everyCase.filter((one) => !accountCases.includes(one));

test("an app that checks everything passes, and every case is reached", async () => {
  const result = await check(allCases);
  expect(named(result, "unnoticed")).toEqual([]);
  expect(named(result, "not-reached")).toEqual([]);
  expect(named(result, "not-required")).toEqual([
    ...["id-token.at-hash-wrong", "token.scope-wider", "logout-token.iat-past"],
  ]);
  expect(result.passed).toBe(true);
  expect(result.cases).toHaveLength(allCases.length + 2);
});

/** They wait, start the app again or make keys, so they run only for apps that neglect their check. */
const isSlow = ({ name }: Case<Attempt>): boolean =>
  /^(retry|keys|discovery|logout|backchannel)|kid-unknown/.test(name);

/** What an app neglects, and the cases that find it. */
type Neglected = Readonly<Partial<Record<Neglect, readonly string[]>>>;

/** Each app neglects many checks at once, but none that could be mistaken for each other: so a few runs tell all of them apart. */
const apps: readonly Neglected[] = [
  {
    state: ["response.state-missing", "response.state-wrong"],
    alg: ["id-token.alg-none"],
    exp: ["id-token.exp-past", "id-token.exp-missing"],
    crit: ["id-token.crit"],
    "iss-prefix": ["id-token.iss-prefix"],
    "token-type": ["token.token-type-wrong"],
    "return-to": ["open-redirect"],
    refresh: ["refresh-refused"],
    "refresh-sub": ["refresh.sub-wrong"],
    "session-id": ["session-fixed"],
  },
  {
    nonce: ["id-token.nonce-wrong", "id-token.nonce-missing"],
    // An app with one issuer need not compare iss, and one that compares state need not count codes.
    iss: [],
    "code-twice": [],
    "id-token": ["id-token.id-token-missing"],
    aud: ["id-token.aud-wrong"],
    iat: ["id-token.iat-missing"],
    "pkce-fresh": ["pkce-fresh"],
    "expires-in": ["token.expires-in-missing"],
    "token-in-url": ["token-in-url"],
    "refresh-iss": ["refresh.iss-wrong"],
    "refresh-in-script": ["secret-in-page"],
    revoked: ["access-revoked"],
  },
  {
    error: [],
    hs256: ["id-token.alg-hs256-public"],
    "aud-text": ["id-token.aud-list"],
    "type-case": ["token.type-case"],
    "aud-contains": ["id-token.aud-contains"],
    sub: ["id-token.sub-missing"],
    "redirect-uri": ["redirect-uri"],
    "return-prefix": ["open-redirect"],
    "refresh-token": ["token.refresh-token-missing"],
    browser: ["login-csrf"],
    "refresh-aud": ["refresh.aud-wrong"],
    "refresh-kept": ["refresh.token-kept"],
    "secret-in-page": ["secret-in-page"],
  },
  // Who verifies no signature is told so once.
  { signature: [], alg: [] },
  {
    "error-loop": ["error-answer"],
    "code-missing": ["response.code-missing"],
    pkce: ["pkce"],
    "id-iss": ["id-token.iss-wrong", "id-token.iss-missing"],
    "aud-extra": ["id-token.aud-extra"],
    "nonce-fresh": ["nonce-fresh"],
    "state-fresh": ["state-fresh"],
    replay: ["callback-replayed"],
    "userinfo-sub": ["userinfo.sub-wrong", "userinfo.sub-missing"],
  },
];

test.each(apps.map((neglected) => [Object.keys(neglected) as Neglect[], Object.values(neglected).flat()] as const))(
  "an app that neglects %j does not notice exactly that",
  async (neglects, expected) => {
    const result = await check(
      allCases.filter((one) => !isSlow(one)),
      neglects,
    );
    expect(named(result, "unnoticed").toSorted()).toEqual(expected.toSorted());
  },
);

const few = [
  ...["pkce", "pkce-fresh", "state-fresh", "nonce-fresh", "redirect-uri", "response.iss-wrong", "mix-up"],
  ...["login-csrf", "callback-replayed", "id-token.nonce-wrong"],
];
const fewCases = allCases.filter(({ name }) => few.includes(name));

test.each([{ responseMode: "form_post" }, { pushes: true }] as const)("the same is found with %o", async (way) => {
  const careful = await check(fewCases, [], way);
  expect(named(careful, "noticed")).toHaveLength(few.length);
  expect(named(await check(fewCases, ["nonce-fresh"], way), "unnoticed")).toEqual(["nonce-fresh"]);
});

test.each(["names", "native-names"] as const)(
  "an app that shows the %s of UserInfo of another user",
  async (userinfo) => {
    const cases = allCases.filter(({ name }) => name === "userinfo.sub-wrong");
    expect((await check(cases, [], { userinfo })).cases[1]).toMatchObject({
      ...{ verdict: "unnoticed", did: "showed the user as somebody else" },
    });
  },
);

test("a secret on the page that asks to sign in, which no signed-in browser sees", async () => {
  const cases = allCases.filter(({ name }) => name === "secret-in-page");
  const way = { hasSignInPage: true, cannotSignOut: true } as const;
  expect(named(await check(cases, [], way), "noticed")).toEqual(["secret-in-page"]);
  expect(named(await check(cases, ["secret-for-strangers"], way), "unnoticed")).toEqual(["secret-in-page"]);
});

/** RFC 9700 2.1: PKCE or nonce may take the place of state, if they keep the response in one browser. */
test.each([
  ["pkce-fresh and login-csrf are noticed", "not-required", [], ["pkce-fresh", "login-csrf"]],
  [
    "nonce-fresh and login-csrf are noticed",
    "not-required",
    ["pkce-fresh"],
    ["pkce-fresh", "nonce-fresh", "login-csrf"],
  ],
  ["login-csrf is not", "unnoticed", ["browser"], ["pkce-fresh", "nonce-fresh", "login-csrf"]],
  [
    "neither pkce-fresh nor nonce-fresh is",
    "unnoticed",
    ["pkce-fresh", "nonce-fresh"],
    ["pkce-fresh", "nonce-fresh", "login-csrf"],
  ],
  ["login-csrf did not run", "unnoticed", [], ["pkce-fresh", "nonce-fresh"]],
] as const)("a state that can be guessed, where %s: %s", async (_where, verdict, others, names) => {
  const cases = allCases.filter(({ name }) => name === "state-fresh" || names.some((one) => one === name));
  expect(named(await check(cases, ["state-fresh", ...others]), verdict)).toContain("state-fresh");
});

test("a case that never ends, and a browser that never closes, take no more than their time", async () => {
  const [base] = allCases;
  const never = (): Promise<never> => new Promise(() => undefined);
  // Its limit is a tenth of a second, so that the test need not wait for the usual one.
  const hangs = { ...base, name: "hangs", waits: 100 - checkRun.caseLimit, run: never } as Case<Attempt>;
  const result = await check([hangs], [], {}, { close: never });
  expect(result.cases.map(({ verdict }) => verdict)).toEqual(["works", "not-reached", "works"]);
  expect(result.cases[1]?.did).toBe("the case did not end within 1 s");
});

test.each([
  ["leaves-out", "noticed"],
  ["hides", "not-reached"],
] as const)("an app that %s UserInfo of another user, and signs in by the ID token: %s", async (userinfo, verdict) => {
  const cases = allCases.filter(({ name }) => name.startsWith("userinfo."));
  const result = await check(cases, [], { userinfo });
  expect(named(result, verdict)).toEqual(["userinfo.sub-wrong", "userinfo.sub-missing"]);
});

test("what an app need not refuse: the auth_time of a refresh, and cookies of before the sign-out", async () => {
  const names = ["refresh.auth-time-changed", "signed-out-cookie"];
  const cases = allCases.filter(({ name }) => names.includes(name));
  expect(named(await check(cases), "noticed")).toEqual(names);
  expect(named(await check(cases, ["refresh-auth-time", "session-end"]), "not-required")).toEqual(names);
});

test.each([
  ["a page that asks whether to sign out is answered", { asksSignOut: true }],
  ["an address that signs out by POST alone gets one", { signsOutByPost: true }],
] as const)("%s", async (_what, way) => {
  const cases = allCases.filter(({ name }) => name === "signed-out-cookie");
  const result = await check(cases, [], way);
  expect(result.cases[0]).toMatchObject({ verdict: "works", did: "signed the user in, and out" });
  expect(named(result, "noticed")).toEqual(["signed-out-cookie"]);
});

test("an app that does not read the ID token of a refresh is not judged by it", async () => {
  const cases = allCases.filter(({ name }) => name.startsWith("refresh."));
  const result = await check(cases, ["refresh-unread"]);
  const names = ["sub-wrong", "iss-wrong", "aud-wrong", "auth-time-changed"].map((name) => `refresh.${name}`);
  expect(named(result, "not-reached")).toEqual(names);
  expect(named(result, "works")).toContain("refresh.token-kept");
});

test("an app that refreshes while it signs the user in, and never again, does not refresh", async () => {
  const cases = allCases.filter(({ name }) => name.startsWith("refresh."));
  const result = await check(cases, [], { refreshes: "at-sign-in" });
  expect(named(result, "not-reached")).toEqual(cases.map(({ name }) => name));
  expect(result.cases[1]?.did).toBe("the app did not refresh");
});

test("an app that refreshes at each request is judged by the ID token of any of them", async () => {
  const cases = allCases.filter(({ name }) => name.startsWith("refresh."));
  const neglects = ["refresh-sub", "refresh-kept"] as const;
  const result = await check(cases, neglects, { refreshes: "each-time" });
  expect(named(result, "unnoticed")).toEqual(["refresh.sub-wrong", "refresh.token-kept"]);
});

test("a response in the fragment needs a browser with scripts", async () => {
  const { cases } = await check(fewCases, [], { responseMode: "fragment" });
  expect(cases[0]).toMatchObject({ verdict: "not-reached", did: expect.stringContaining("--browser") });
});

test("every flaw has a case, and every case a unique name", () => {
  const names = allCases.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  // Those of an ID-JAG are for the authorization server that gets it, and those of SAML for a service provider.
  const ofFlaws = flawList
    .filter(({ place, hasOwnCase }) => place !== "id-jag" && place !== "saml" && hasOwnCase !== true)
    .map(({ place, name }) => `${place}.${name}`);
  expect(names.filter((name) => name.includes(".") && !/^(?:logout-token|refresh)\./.test(name)).sort()).toEqual(
    [...ofFlaws, "id-token.not-read"].sort(),
  );
  expect(names.at(-1)).toBe("keys-rotated");
});

/** Cases that do not concern the app's security: it may give up. */
test("an app that does not try again is not required to", async () => {
  const result = await check(
    allCases.filter(({ name }) => name.startsWith("retry-")),
    ["retry"],
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
    [neglect],
  );
  expect(named(result, "unnoticed")).toEqual([expected]);
});

test("an app that never fetches the keys again signs nobody in after a rotation, not even later", async () => {
  const result = await check(
    allCases.filter(({ name }) => name.includes("keys-rotated")),
    ["keys"],
  );
  expect(named(result, "unnoticed")).toEqual(["keys.keys-rotated", "keys-rotated"]);
  // From there on it does not sign in at all.
  expect(named(result, "not-reached")).toEqual(["control"]);
});

test("a flaw that no response to the client can have is not reached", async () => {
  const one: Case<Attempt> = {
    ...{ name: "id-token.kid-missing", mustNot: "", should: "", paragraph: "", fix: "" },
    run: async (attempt) => noticed(await attempt.arm({ endpoint: "token", flaw: "kid-missing", client: "hs" })),
  };
  const { cases } = await check([one]);
  expect(cases[1]).toMatchObject({ verdict: "not-reached", did: expect.stringContaining("HS256") });
});
