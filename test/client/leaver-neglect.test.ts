import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, expect, test } from "vitest";
import { nearLookup } from "../../src/check/frame/near.ts";
import { leaverControl, type LeaverControl } from "../../src/check/leaver/control.ts";
import { Opened } from "../../src/check/frame/opened.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import { callServer, type Server } from "../../src/serve/remote.ts";
import { allCases } from "../../src/check/leaver/cases/list.ts";
import type { CredentialPlace } from "../../src/check/leaver/credential.ts";
import { runLeaver } from "../../src/check/leaver/check.ts";
import { signalNames, type Signal } from "../../src/check/leaver/signals.ts";
import type { RunResult } from "../../src/check/frame/run.ts";
import type { Idp } from "../../src/index.ts";
import type { Client } from "../../src/store/store.ts";
import { checkRun } from "../helpers/check-run.ts";
import { serve } from "../helpers/app.ts";
import { leaverApp, type LeaverApp, type LeaverAppOptions } from "../helpers/leaver-app.ts";

/** `idp check leaver` on apps that lock out by one signal, by none, and late. */

let idp: Idp;
beforeAll(async () => {
  const users = [{ username: "alice" }, { username: "bob" }];
  const scopes = { team: { claims: ["groups"] } };
  idp = await serve({ fixtures: [{ users, scopes, settings: { login: "picker", access_token_alg: "RS256" } }] });
});

interface Options extends Omit<LeaverAppOptions, "now"> {
  readonly signals?: readonly Signal[];
  /** Seconds. */
  readonly within?: number;
  readonly api?: true;
  readonly user?: string;
  readonly credential?: CredentialPlace["header"];
  readonly admin?: true;
  /** Fields of the client. */
  readonly client?: object;
  /** Whether `silence` waits as long as the others. */
  readonly isSilenceNamed?: boolean;
  /** Whether time stands still until the app got a signal. */
  readonly awaitsSignal?: true;
  /** Seconds. */
  readonly tokenLife?: number;
  /** Is called now and then. */
  readonly onWait?: (opened: Opened, app: LeaverApp) => void;
}

interface Checked {
  readonly result: RunResult;
  readonly app: LeaverApp;
  readonly keyed: readonly string[];
  /** Filled once the check has ended. */
  readonly left: LeaverControl["left"];
  /** A verdict by its case. */
  readonly verdict: (name: string) => string | undefined;
  readonly ms: (name: string) => number | null | undefined;
  readonly did: (name: string) => string | undefined;
}

/** Time passes only where the check waits, so it is exact. */
async function check({
  signals = signalNames,
  within = 10,
  api,
  user,
  credential,
  admin,
  client = {},
  ...options
}: Options): Promise<Checked> {
  let time = Date.now();
  const keyed: string[] = [];
  const now = (): number => time;
  const wait = async (milliseconds: number): Promise<void> => {
    await delay(0);
    if (options.awaitsSignal !== true || app.signals > 0) time += milliseconds;
  };
  const app = await leaverApp({ ...options, now });
  await idp.reset();
  await idp.call("seed", { settings: { access_token_ttl: options.tokenLife ?? 3600 } });
  const fields = { ...app.client(), ...client } as Client;
  await idp.call("seed", { clients: [fields as never] });
  app.oidc = { issuer: idp.issuer, clientId: fields.client_id, clientSecret: fields.client_secret ?? "" };
  const server: Server = { url: idp.issuer, adminToken: idp.adminToken };
  const view = await callServer(server, "clients.show", { client_id: "app", secrets: true });
  const opened = new Opened();
  const lookup = nearLookup(undefined);
  const place = { server, issuer: idp.issuer, client: view as unknown as Client, isOwn: true, user: user ?? null };
  const control = await leaverControl(place, lookup, opened);
  const flags = { start: `${app.url}/login`, signedIn: `${app.url}/me` };
  const places = { issuer: idp.issuer, redirectUris: view.redirect_uris, origins: [app.url], lookup };
  const newBrowser = (username: string) => Promise.resolve(smallBrowser({ ...places, user: username }));
  const cases = allCases.filter(
    ({ signal, needsApi, needsCredential, needsAdmin }) =>
      (signal === undefined || signals.includes(signal)) &&
      (needsApi !== true || api === true) &&
      (needsCredential !== true || credential !== undefined) &&
      (needsAdmin !== true || admin === true),
  );
  try {
    const result = await runLeaver(
      {
        ...{ ...checkRun, control, newBrowser, now, wait, signals },
        ...{ api: api === true ? `${app.url}/api` : null, other: user === undefined ? await control.enter() : "alice" },
        credential:
          credential === undefined ? null : { request: { method: "POST", url: `${app.url}/keys` }, header: credential },
        admin: admin === true ? { url: `${app.url}/admin`, group: "admins" } : null,
        onKey: (username) => keyed.push(username),
        app: { ...flags, signedInText: null, signOut: null, within: within * 1000, lookup },
        ...{ isTogether: user === undefined, isSilenceNamed: options.isSilenceNamed ?? signals.length === 1 },
        isEnded: () => opened.isClosed,
        onWait: () => options.onWait?.(opened, app),
      },
      cases,
    );
    const found = (name: string) => result.cases.find((one) => one.name === name);
    return {
      ...{ result, app, keyed, left: control.left },
      verdict: (name) => found(name)?.verdict,
      ms: (name) => found(name)?.lockedOutAfterMs,
      did: (name) => found(name)?.did,
    };
  } finally {
    await opened.close();
  }
}

const sessions = (checked: Checked, verdict: string): readonly string[] =>
  checked.result.cases.filter((one) => one.name.includes("session") && one.verdict === verdict).map(({ name }) => name);

const both = (...signals: readonly Signal[]): readonly string[] =>
  signals.flatMap((signal) => [`${signal}.session`, `${signal}.second-session`]);

/** Nobody and nothing is left of a check. */
async function expectUndone({ app }: Checked): Promise<void> {
  expect((await idp.call("users.list", {})).map(({ username, status }) => [username, status])).toEqual([
    ["alice", "active"],
    ["bob", "active"],
  ]);
  expect([...app.scim.users.values()].map(({ userName }) => userName as string)).toEqual([]);
  expect([...app.scim.groups.keys()]).toEqual([]);
  for (const { claims } of await idp.call("users.list", {})) expect(claims).toEqual({});
}

const everySignal = ["scim", "backchannel-logout", "revocation"] as const;
const header = { name: "x-api-key", value: "{key}" };

test("keys must end where the person leaves; what SCIM and the end say is required", async () => {
  const options = { takes: everySignal, api: true, credential: header } as const;
  const right = await check(options);
  for (const signal of ["scim", "all"]) expect(right.verdict(`${signal}.credential`)).toBe("noticed");
  for (const signal of ["revocation", "silence"]) expect(right.verdict(`${signal}.credential`)).toBe("not-required");
  expect(right.ms("revocation.credential")).toEqual(expect.any(Number));
  expect(right.verdict("backchannel-logout.credential")).toBeUndefined();
  expect(right.keyed).toHaveLength(5);
  const wrong = await check({ ...options, keys: "stay" });
  for (const signal of ["scim", "all"]) expect(wrong.verdict(`${signal}.credential`)).toBe("unnoticed");
  expect(wrong.did("scim.credential")).toBe("still lets the key in after 10s");
  expect(wrong.verdict("revocation.credential")).toBe("not-required");
  // A key is in no finding.
  expect(wrong.app.keys.size).toBeGreaterThan(3);
  for (const key of wrong.app.keys.keys()) expect(JSON.stringify(wrong.result)).not.toContain(key);
  const other = await check({ ...options, credential: { name: "x-other", value: "{key}" } });
  expect(other.verdict("scim.credential")).toBe("not-reached");
  await expectUndone(other);
});

test.each([
  ["takes it by SCIM", {}, ["noticed", "works", "works"]],
  ["signs the person out, who signs in again without it", { signsMoversOut: true }, ["noticed", "works", "works"]],
  ["goes by the claim of the last sign-in", { roles: "claim" }, ["unnoticed", "works", "works"]],
  ["takes it from everybody", { roles: "everybody-loses" }, ["noticed", "unnoticed", "works"]],
  ["knows a group by its name", { roles: "by-name" }, ["noticed", "works", "not-required"]],
] as const)("somebody leaves a group, and the app %s", async (_what, options, verdicts) => {
  const checked = await check({ takes: [], signals: [], admin: true, ...options });
  const names = ["mover", "mover-other", "mover-renamed"];
  expect(
    names.map((name) => checked.verdict(name)),
    JSON.stringify(names.map(checked.did)),
  ).toEqual(verdicts);
  await expectUndone(checked);
});

test("somebody leaves a group, and nobody tells the app: not required, with what the next sign-in shows", async () => {
  const client = { scim: undefined };
  const asks = await check({ takes: [], signals: [], admin: true, roles: "claim", client });
  expect(asks.verdict("mover")).toBe("not-required");
  expect(asks.did("mover")).toContain("after the next sign-in the rights are gone");
  const keeps = await check({ takes: [], signals: [], admin: true, roles: "claim-once", client });
  expect(keeps.did("mover")).toContain("after the next sign-in the rights are still there");
  expect(keeps.verdict("mover-renamed")).toBe("not-reached");
});

test("with --user, the groups are as they were", async () => {
  const checked = await check({ takes: everySignal, signals: ["scim"], admin: true, user: "bob" });
  expect(["mover", "mover-other"].map((name) => checked.verdict(name))).toEqual(["noticed", "works"]);
  await expectUndone(checked);
});

test("an app that takes every signal is locked at once, and lets in who is back", async () => {
  const checked = await check({ takes: ["scim", "backchannel-logout", "revocation"] });
  expect(sessions(checked, "noticed")).toEqual(both("scim", "backchannel-logout", "revocation", "all"));
  expect(sessions(checked, "not-required")).toEqual(both("silence"));
  expect(checked.ms("silence.session")).toBe(null);
  for (const name of ["scim.sign-in", "all.sign-in"]) expect(checked.verdict(name)).toBe("noticed");
  for (const name of ["restored", "other-user"]) expect(checked.verdict(name)).toBe("works");
  expect(checked.result.passed).toBe(true);
  await expectUndone(checked);
});

test.each([
  ["scim", both("scim", "all"), both("backchannel-logout", "revocation")],
  ["backchannel-logout", both("backchannel-logout", "all"), both("scim", "revocation")],
  ["revocation", both("revocation", "all"), both("scim", "backchannel-logout")],
] as const)("by %s alone", async (taken, noticed, unnoticed) => {
  const checked = await check({ takes: [taken] });
  expect(sessions(checked, "noticed")).toEqual(noticed);
  expect([...sessions(checked, "unnoticed")].sort()).toEqual([...unnoticed].sort());
  // Signing in again is refused only where the app looks at what SCIM said; idp itself refuses who left.
  expect(checked.verdict("scim.sign-in")).toBe(taken === "scim" ? "noticed" : "unnoticed");
  expect(checked.verdict("all.sign-in")).toBe("noticed");
  expect(checked.verdict("other-user")).toBe("works");
  await expectUndone(checked);
});

test("an app that sends who is signed out to a page of its own, with 200", async () => {
  const checked = await check({ takes: ["scim"], signals: ["scim", "revocation"], asksAt: "/" });
  expect(sessions(checked, "noticed")).toEqual(both("scim"));
  expect(sessions(checked, "unnoticed")).toEqual(both("revocation"));
});

test("never: still signed in when the time is over", async () => {
  const checked = await check({ takes: [], within: 300 });
  expect(sessions(checked, "unnoticed")).toEqual(both("scim", "backchannel-logout", "revocation", "all"));
  expect(checked.did("all.session")).toBe("still signed in after 5m");
  expect(checked.ms("all.session")).toBe(null);
  expect(checked.verdict("silence.session")).toBe("not-required");
});

test.each(["scim", "backchannel-logout", "revocation", "all"] as const)("after five seconds: %s", async (signal) => {
  const takes = ["scim", "backchannel-logout", "revocation"] as const;
  const late = await check({ takes, delay: 5000, signals: [signal], awaitsSignal: true });
  expect(late.verdict(`${signal}.session`)).toBe("noticed");
  expect(late.did(`${signal}.session`)).toMatch(/^locked out after [56]\.\d s$/);
  for (const name of ["session", "second-session"]) {
    expect(late.ms(`${signal}.${name}`)).toBeGreaterThanOrEqual(5000);
    expect(late.ms(`${signal}.${name}`)).toBeLessThanOrEqual(6500);
  }
  const tooLate = await check({ takes, delay: 5000, signals: [signal], within: 4, awaitsSignal: true });
  expect(tooLate.verdict(`${signal}.session`)).toBe("unnoticed");
  expect(tooLate.did(`${signal}.session`)).toBe("still signed in after 4s");
});

test("an API that reads tokens itself need not refuse before they expire; one that asks must where idp says no", async () => {
  const takes = ["scim", "backchannel-logout", "revocation"] as const;
  const local = await check({ takes, api: true });
  for (const signal of signalNames) expect(local.verdict(`${signal}.api`)).toBe("not-required");
  expect(local.did("scim.api")).toContain("has not expired");
  const asks = await check({ takes, api: true, introspects: true });
  expect(asks.app.asked).toBeGreaterThan(0);
  expect(asks.verdict("all.api")).toBe("noticed");
  expect(asks.verdict("silence.api")).toBe("not-required");
  expect(asks.ms("silence.api")).toEqual(expect.any(Number));
  for (const signal of ["backchannel-logout", "revocation"]) expect(asks.verdict(`${signal}.api`)).toBe("not-required");
  // The app was told, and its API did not look.
  expect(asks.verdict("scim.api")).toBe("unnoticed");
});

test("an API that lets tokens in after they expired", async () => {
  const options = { takes: [], api: true, signals: ["revocation"], within: 90, tokenLife: 60 } as const;
  const right = await check(options);
  expect(right.verdict("revocation.api")).toBe("noticed");
  expect(right.ms("revocation.api")).toBeGreaterThan(50_000);
  const wrong = await check({ ...options, ignoresExpiry: true });
  expect(wrong.verdict("revocation.api")).toBe("unnoticed");
});

test("a signal without an address is not reached", async () => {
  const checked = await check({
    takes: [],
    client: { scim: undefined, global_token_revocation: undefined },
  });
  expect(sessions(checked, "not-reached")).toEqual(both("scim", "revocation"));
  expect(checked.did("scim.session")).toBe("the client has no scim");
  expect(sessions(checked, "unnoticed")).toEqual(both("backchannel-logout", "all"));
});

test("an app that signs everybody out, forgets who is back, or breaks", async () => {
  const everybody = await check({ takes: ["revocation"], endsAll: true, signals: ["revocation"] });
  expect(everybody.verdict("other-user")).toBe("unnoticed");
  const forgets = await check({ takes: ["scim"], forgets: true, signals: ["all"] });
  expect(forgets.verdict("restored")).toBe("unnoticed");
  expect(forgets.did("restored")).toContain("the SCIM id was");
  const breaks = await check({ takes: ["revocation"], breaks: true, signals: ["revocation"] });
  expect(breaks.verdict("revocation.session")).toBe("not-reached");
  const open = await check({ takes: ["scim"], letsInactiveIn: true, signals: ["scim"] });
  expect(open.verdict("scim.session")).toBe("noticed");
  expect(open.verdict("scim.sign-in")).toBe("unnoticed");
});

test("silence waits as long as the others, or where it is named as long as --within", async () => {
  const others = await check({ takes: ["scim"], signals: ["scim", "silence"], isSilenceNamed: false, within: 300 });
  expect(others.verdict("silence.session")).toBe("not-required");
  const named = await check({ takes: [], signals: ["silence"], isSilenceNamed: true });
  expect(named.did("silence.session")).toBe("still signed in after 10s");
});

test("with --user, the signals run one after another, and the user is back at the end", async () => {
  const checked = await check({
    ...{ takes: ["scim", "backchannel-logout", "revocation"], user: "bob" },
    admits: ["alice@example.com", "bob@example.com"],
  });
  expect(sessions(checked, "noticed")).toEqual(both("scim", "backchannel-logout", "revocation", "all"));
  expect(checked.verdict("restored")).toBe("works");
  expect(checked.verdict("other-user")).toBe("works");
  await expectUndone(checked);
});

test("live: on tells nobody of a user who is suspended in silence, and is on again at the end", async () => {
  const app = await check({ takes: [], signals: ["silence"] });
  const { token } = app.app.scim;
  const checked = await check({
    ...{ takes: ["scim"], signals: ["silence"] },
    client: { scim: { url: app.app.scim.url, token, live: "on" } },
  });
  expect(checked.verdict("silence.session")).toBe("not-required");
  expect(app.app.scim.seen.filter(({ method }) => method === "PATCH")).toEqual([]);
  const { scim } = await idp.call("clients.show", { client_id: "app" });
  expect(scim).toMatchObject({ live: "on" });
});

test("an app that removes nobody: who stays there is deactivated and named", async () => {
  const checked = await check({ takes: everySignal, signals: ["scim", "all"], scim: ["no-delete"], admin: true });
  expect(sessions(checked, "noticed")).toEqual(both("scim", "all"));
  const users = [...checked.app.scim.users.values()];
  expect(users.length).toBeGreaterThan(2);
  expect(users.filter(({ active }) => active !== false)).toEqual([]);
  const named = checked.left.filter(({ state }) => state === "deactivated").map(({ name }) => `${name}@example.com`);
  expect(named.toSorted()).toEqual(users.map(({ userName }) => String(userName)).toSorted());
  expect(checked.left.find(({ kind }) => kind === "group")).toMatchObject({ name: "admins", state: "active" });
});

test("an interrupted check ends soon, and undoes everything", async () => {
  const closed: Promise<void>[] = [];
  const checked = await check({
    ...{ takes: [], within: 300 },
    onWait: (opened) => {
      if (closed.length === 0) closed.push(opened.close());
    },
  });
  expect(closed).toHaveLength(1);
  await closed[0];
  expect(checked.result.passed).toBe(false);
  await expectUndone(checked);
});
