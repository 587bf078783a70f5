import { beforeAll, expect, onTestFinished, test } from "vitest";
import { allCases } from "../../src/check/client/cases/list.ts";
import { runClient } from "../../src/check/client/check.ts";
import {
  idPlaceOf,
  markHeaderOf,
  markPlaceOf,
  type AccountPlace,
} from "../../src/check/frame/account/account-place.ts";
import type { RunResult } from "../../src/check/frame/run.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import { controlOf } from "../../src/check/client/control.ts";
import { nearLookup } from "../../src/check/frame/near.ts";
import { Opened } from "../../src/check/frame/opened.ts";
import { createIdp, type Idp } from "../../src/index.ts";
import { AccountsApp, type AccountsConfig, type FindsBy } from "../helpers/accounts-app.ts";
import { atEnd } from "../helpers/at-end.ts";
import { checkRun } from "../helpers/check-run.ts";
import { named } from "../helpers/checked-app.ts";
import { serveApp } from "../helpers/serve-app.ts";

/** Is it the right account? An app that finds accounts by something else than issuer and sub is told exactly that. */

const secret = "the-secret-of-the-app-under-test";
let idp: Idp;
let second: string;
let url: string;
let app: AccountsApp;
const left = new Map<string, string>();

beforeAll(async () => {
  const served = await serveApp(0, () => app);
  atEnd(served.close);
  ({ url } = served);
  const clientAt = (name: string) => ({
    ...{ client_id: `app-${name}`, client_secret: secret, redirect_uris: [`${url}/callback/${name}`] },
  });
  const claims = { groups: ["staff"] };
  idp = await createIdp({
    port: 0,
    fixtures: {
      users: [
        { username: "alice", displayName: "Alice Adams", email: "alice@corp.example.com", emailVerified: true, claims },
        { username: "bob" },
      ],
      clients: [clientAt("one")],
      issuers: { other: { users: [{ username: "carol" }], clients: [clientAt("two")] } },
    },
  });
  atEnd(() => idp.close());
  second = `${idp.issuer}/i/other`;
});

const form = (path: string): AccountPlace => ({
  ...{ kind: "mark", mark: { kind: "form", url: url + path, field: null }, headers: [], show: url + path },
});

function request(text: string, headers: readonly string[] = []): AccountPlace {
  const mark = markPlaceOf(text, null);
  if (typeof mark === "string") throw new Error(mark);
  const read = headers.map((one) => markHeaderOf(one)).filter((one) => typeof one !== "string");
  return { kind: "mark", mark, headers: read, show: mark.url };
}

interface Way {
  readonly place?: AccountPlace | null;
  readonly config?: Partial<AccountsConfig>;
  readonly withSecond?: boolean;
  readonly otherUser?: string;
  readonly names?: RegExp;
}

async function check(findsBy: FindsBy, way: Way = {}): Promise<RunResult> {
  const { place = form("/note"), config = {}, withSecond = true, otherUser = null, names = /^account\./ } = way;
  const connections = {
    one: { issuer: idp.issuer, clientId: "app-one", clientSecret: secret },
    two: { issuer: second, clientId: "app-two", clientSecret: secret },
  };
  app = new AccountsApp({ connections, url, findsBy, ...config });
  left.clear();
  const lookup = nearLookup(undefined);
  const opened = new Opened();
  const at = (issuer: string, name: string) => {
    const about = { issuer, client: `app-${name}`, redirectUris: [`${url}/callback/${name}`], user: "alice" };
    const like = { claims: { groups: ["staff"] }, email: "alice@corp.example.com", emailVerified: true };
    const more = { isOwn: true, logoutUri: null, isConfidential: true };
    const server = { url: issuer, adminToken: idp.adminToken };
    return controlOf(server, { ...about, ...more }, opened, like);
  };
  const [control, other] = [at(idp.issuer, "one"), at(second, "two")];
  const result = await runClient(
    {
      ...{ ...checkRun, control, closeLimit: 100, account: place, otherUser },
      app: {
        start: `${url}/login/one`,
        signedIn: `${url}/me`,
        who: `${url}/me`,
        signedInText: null,
        signOut: null,
        within: 300,
        lookup,
      },
      second: withSecond ? { start: `${url}/login/two`, control: other } : null,
      leaves: (key, what) => left.set(key, what),
      newBrowser: ({ username = "alice", at: where }) => {
        const [issuer, name] = where === "second" ? [second, "two"] : [idp.issuer, "one"];
        const places = { issuer, redirectUris: [`${url}/callback/${name}`], origins: [url], user: username, lookup };
        return Promise.resolve(smallBrowser(places));
      },
    },
    allCases.filter((one) => names.test(one.name)),
  );
  await opened.close();
  return result;
}

const cases = ["email-taken", "email-unverified", "username-taken", "name-taken", "other-issuer"].map(
  (name) => `account.${name}`,
);

test("an app that finds accounts by issuer and sub", async () => {
  const result = await check("issuer-and-sub");
  expect(named(result, "noticed")).toEqual(cases);
  expect(named(result, "works")).toEqual(["control", "account.email-changed", "control"]);
  expect([...left.values()].filter((what) => what.startsWith("the account of idp-check-"))).toHaveLength(6);
  expect(left.get("mark")).toMatch(/^the text "[a-z]{12}" of alice /);
  // Nobody is left at idp.
  const users = await idp.call("users.list", {});
  expect(users.map(({ username }) => username)).toEqual(["alice", "bob"]);
  expect(await idp.faults.list()).toEqual([]);
});

test.each([
  ["email", ["account.email-taken", "account.email-unverified", "account.other-issuer", "account.email-changed"]],
  ["verified-email", ["account.email-taken", "account.other-issuer", "account.email-changed"]],
  ["username", ["account.username-taken", "account.other-issuer", "account.email-changed"]],
  ["name", ["account.name-taken", "account.other-issuer"]],
  ["native-username", ["account.username-taken", "account.other-issuer", "account.email-changed"]],
  ["native-name", ["account.name-taken", "account.other-issuer"]],
  ["sub", ["account.other-issuer"]],
  ["sub-and-email", ["account.email-changed"]],
] as const satisfies readonly (readonly [FindsBy, readonly string[]])[])(
  "an app that finds accounts by %s does not notice exactly that",
  async (findsBy, expected) => {
    expect(named(await check(findsBy), "unnoticed")).toEqual(expected);
  },
);

test("a user whose e-mail is not verified has a verified one in the cases of an app that trusts verified addresses", async () => {
  await idp.call("users.edit", { username: "alice", emailVerified: false });
  onTestFinished(async () => {
    await idp.call("users.edit", { username: "alice", emailVerified: true });
  });
  const open = ["account.email-taken", "account.other-issuer", "account.email-changed"];
  expect(named(await check("verified-email"), "unnoticed")).toEqual(open);
  expect(named(await check("issuer-and-sub"), "noticed")).toEqual(cases);
  expect(await idp.call("users.show", { username: "alice" })).toMatchObject({ emailVerified: false });
});

test.each([
  ["a form that is sent as multipart/form-data", () => form("/upload")],
  ["JSON with a cookie that is sent back as a header", () => request(`PUT ${url}/api {"note":"{mark}"}`)],
  [
    "the id of the account, in JSON",
    () => ({ kind: "id", url: `${url}/account`, id: idPlaceOf("/data/id") }) as AccountPlace,
  ],
  [
    "the id of the account, in a text",
    () => ({ kind: "id", url: `${url}/account`, id: idPlaceOf("/(account-\\w+)/") }) as AccountPlace,
  ],
])("%s", async (_what, place) => {
  const names = /email-taken/;
  expect(named(await check("email", { place: place(), names }), "unnoticed")).toEqual(["account.email-taken"]);
  expect(named(await check("issuer-and-sub", { place: place(), names }), "noticed")).toEqual(["account.email-taken"]);
});

test("a token against CSRF in a header, which a page shows", async () => {
  const config = { hidesToken: true };
  const text = `POST ${url}/api {"note":"{mark}"}`;
  const names = /email-taken/;
  const refused = await check("email", { config, names, place: request(text) });
  expect(refused.cases[1]).toMatchObject({
    verdict: "not-reached",
    did: expect.stringContaining("403 to the POST; for a token against CSRF in a header, add --mark-header") as string,
  });
  const place = request(text, [`X-Token: {${url}/token /token:(\\w+)/}`]);
  expect(named(await check("email", { config, names, place }), "unnoticed")).toEqual(["account.email-taken"]);
});

test("an app about which nothing is known, that shows nothing, or the same to everybody, is not judged", async () => {
  const names = /email-taken/;
  const whyOf = async (way: Way) => (await check("email", { names, ...way })).cases[1];
  expect(await whyOf({ place: null })).toMatchObject({
    verdict: "not-reached",
    did: expect.stringContaining("--mark URL") as string,
  });
  const all = await check("email", { place: null });
  expect(named(all, "not-reached")).toHaveLength(6);
  for (const { name, did } of all.cases.filter((one) => one.name.startsWith("account.")))
    expect([name, did]).toEqual([name, expect.stringMatching(/--mark URL.*--account URL/)]);
  const wrong = await check("email", { place: form("/me"), names: /-taken/ });
  expect(wrong.cases.map(({ did }) => did).filter((did) => did.includes("--mark-field"))).toHaveLength(3);
  const nothing = { ...form("/note"), show: `${url}/me` } as AccountPlace;
  expect(await whyOf({ place: nothing })).toMatchObject({
    verdict: "not-reached",
    did: `--show: ${url}/me does not show alice the text that --mark wrote into the field note: name the right field with --mark-field, or an address that shows it with --show`,
  });
  expect(await whyOf({ config: { isShared: true } })).toMatchObject({
    verdict: "not-reached",
    did: expect.stringContaining("another user") as string,
  });
  const api = { kind: "id", url: `${url}/scripts`, id: idPlaceOf("/id") } as AccountPlace;
  expect(await whyOf({ place: api })).toMatchObject({
    verdict: "not-reached",
    did: `--account: the app answered 401 at ${url}/scripts; an app that keeps its token outside cookies cannot be asked`,
  });
  expect(await whyOf({ place: form("/me") })).toMatchObject({
    verdict: "not-reached",
    did: expect.stringContaining("--mark-field") as string,
  });
});

test("an app that admits only users whom it knows refuses the attackers", async () => {
  const users = await idp.call("users.list", {});
  const result = await check("issuer-and-sub", {
    config: { admits: users.map(({ id }) => id) },
    otherUser: "bob",
    withSecond: false,
  });
  expect(named(result, "noticed")).toEqual(cases.slice(0, 4));
  expect(result.cases.find(({ name }) => name === "account.other-issuer")).toMatchObject({
    verdict: "not-reached",
    did: expect.stringContaining("--second-start") as string,
  });
});

test("that an app refuses everybody whom it does not know is said beside each refusal, and so is a failure", async () => {
  const config = { admits: [(await idp.call("users.show", { username: "alice" })).id], fails: true };
  const result = await check("email", { config, withSecond: false, names: /email-taken/ });
  expect(result.cases[1]).toMatchObject({
    verdict: "noticed",
    did: expect.stringMatching(
      /^answered 500 at \/callback\/one, which refuses too; a 403 would say so: refused .*; the app refuses idp-check-\w+, too \(.*\): .*--attacker/,
    ) as string,
  });
});

test("an app that admits verified addresses of one domain admits the attackers", async () => {
  const result = await check("username", { config: { admitsDomain: "corp.example.com" }, withSecond: false });
  expect(named(result, "unnoticed")).toEqual(["account.username-taken", "account.email-changed"]);
});

test("with two issuers, iss has to be compared", async () => {
  const way = { names: /^(response\.iss-|mix-up)/ };
  const names = ["response.iss-missing", "response.iss-wrong", "mix-up"];
  expect(named(await check("issuer-and-sub", way), "noticed")).toEqual(names);
  expect(named(await check("issuer-and-sub", { ...way, config: { ignoresIss: true } }), "unnoticed")).toEqual(names);
  expect(
    named(await check("issuer-and-sub", { ...way, config: { ignoresIss: true }, withSecond: false }), "not-required"),
  ).toEqual(names);
});
