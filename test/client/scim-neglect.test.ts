import { expect, test } from "vitest";
import { nearLookup } from "../../src/check/frame/near.ts";
import { allCases, page } from "../../src/check/scim/cases/list.ts";
import { otherTenant } from "../../src/check/scim/cases/protocol.ts";
import { attemptsOf, type ScimCase } from "../../src/check/scim/attempt.ts";
import { runScim } from "../../src/check/scim/check.ts";
import type { RunResult } from "../../src/check/frame/run.ts";
import { profileNames, type Profile } from "../../src/scim/profiles.ts";
import { checkRun } from "../helpers/check-run.ts";
import { scimServer, type ScimServer, type Weakness } from "../helpers/scim-server.ts";

/** `idp check scim` on a SCIM server with one weakness: exactly its case goes unnoticed. */

const otherToken = "scim-secret-of-another-tenant";

interface Checked {
  readonly app: ScimServer;
  readonly result: RunResult;
  readonly left: ReturnType<ReturnType<typeof attemptsOf>["people"]["left"]>;
}

const emailDomain = "example.com";

async function check(weaknesses: readonly Weakness[], cases: readonly ScimCase[], keeps = false): Promise<Checked> {
  const app = await scimServer({ weaknesses });
  app.otherToken = otherToken;
  // Somebody else's user, who stays.
  app.users.set("7", { id: "7", tenant: "one", userName: "alice@example.com", active: true });
  const attempts = attemptsOf({
    ...{ app: { url: app.url, token: app.token }, otherToken, keeps, emailDomain, lookup: nearLookup(undefined) },
    ...checkRun,
  });
  const { people } = attempts;
  const result = await runScim(checkRun, attempts, cases);
  await people.close();
  return { app, result, left: people.left() };
}

const named = ({ result }: Checked, verdict: string): readonly string[] =>
  result.cases.filter((one) => one.verdict === verdict).map(({ name }) => name);

/** Without the pages, which take longer than everything else. */
const casesFor = (...profiles: readonly Profile[]): readonly ScimCase[] =>
  allCases.filter((one) => one !== page && (one.profile === undefined || profiles.includes(one.profile)));

test.each(profileNames)("a correct server is green by %s, and nothing is left in it", async (profile) => {
  const checked = await check([], casesFor(profile));
  const bad = checked.result.cases.filter(({ verdict }) => verdict !== "noticed" && verdict !== "works");
  expect(bad).toEqual([]);
  expect(checked.result.passed).toBe(true);
  expect([...checked.app.users.keys()]).toEqual(["7"]);
  expect(checked.app.groups.size).toBe(0);
});

test("201 users, page by page", async () => {
  const good = await check([], [page]);
  expect(good.result.cases).toMatchObject([
    {},
    { name: "page", verdict: "works", did: "listed 201 users once each" },
    {},
  ]);
  expect(good.app.seen.filter(({ method }) => method === "POST").length).toBeGreaterThan(200);
  expect(good.app.users.size).toBe(1);
  const bad = await check(["unstable-pages"], [page]);
  expect(named(bad, "unnoticed")).toEqual(["page"]);
});

const every = (name: string): readonly string[] => profileNames.map((profile) => `${profile}.${name}`);
const byPatch = (name: string): readonly string[] => every(name).filter((one) => !one.startsWith("okta-put"));

const weak: readonly (readonly [Weakness, readonly string[]])[] = [
  ["lets-anybody-read", ["no-token"]],
  ["accepts-any-token", ["token-wrong"]],
  ["shares-tenants", ["other-tenant"]],
  ["not-found-200", ["not-found", "delete", "delete-twice"]],
  ["plain-errors", ["not-found"]],
  ["accepts-any-op", ["patch-invalid"]],
  ["html", ["media-type"]],
  ["crashes-on-unknown", ["unknown-attribute"]],
  ["crashes-on-empty", ["empty-values"]],
  ["crashes-on-null", ["null-values"]],
  ["ignores-filter", ["none", "case", "quote", "external", "inactive"].flatMap((name) => every(`lookup-${name}`))],
  ["filter-ends-at-quote", every("lookup-quote")],
  ["ignores-external-filter", every("lookup-external")],
  ["case-sensitive", every("lookup-case")],
  ["hides-inactive", [...every("lookup-inactive"), ...every("rehire")]],
  ["text-total", [...every("lookup-none"), "list-envelope"]],
  ["bare-list", ["list-envelope"]],
  ["keeps-removed", ["delete"]],
  ["lists-removed", ["delete"]],
  ["removes-twice", ["delete-twice"]],
  ["created-200", every("create")],
  ["creates-twice", every("create-twice")],
  ["races", every("create-repeated")],
  ["upserts", every("create-id")],
  ["creates-active", every("create-inactive")],
  ["remembers-removed", every("create-again")],
  ["rehires-another", every("rehire")],
  ["found-by-old-name", every("update-username")],
  ["manager-is-object", ["entra.manager", "entra-compliant.manager"]],
  ["forgets-new-values", ["entra.update-new", "entra-compliant.update-new"]],
  ["not-atomic", ["standard.update-atomic", "entra.update-atomic", "entra-compliant.update-atomic"]],
  ["patch-forgets", ["standard.update", "entra.update", "entra-compliant.update"]],
  ["no-dots", ["entra-compliant.update-dots"]],
  [
    "ignores-email",
    [
      ...["standard.update-email", "entra.update-email", "entra-compliant.update-email"],
      ...["entra.update-new", "entra-compliant.update-new"],
    ],
  ],
  ["put-forgets", ["standard.replace", "okta.replace", "okta-put.replace", "okta.manager", "okta-put.manager"]],
  ["ignores-active", every("deactivate")],
  ["ignores-string-active", ["entra.deactivate-string"]],
  ["reactivates-another", byPatch("reactivate")],
  ["group-created-empty", ["standard.group-create", "okta.group-create", "okta-put.group-create"]],
  ["group-loses-members", byPatch("group-add")],
  ["member-twice", byPatch("group-add-twice")],
  ["unknown-members", every("group-unknown-member")],
  ["group-keeps-members", byPatch("group-remove")],
  ["group-keeps-name", byPatch("group-rename")],
  ["group-stays", every("group-delete")],
];

/** The profiles in which a weakness shows; one is enough where all of them send the same. */
const profilesOf = (names: readonly string[]): readonly Profile[] => {
  const found = profileNames.filter((profile) => names.some((name) => name.startsWith(`${profile}.`)));
  return found.length === 0 ? ["standard"] : found;
};

test.each(weak)("%s: %j alone", async (weakness, names) => {
  const checked = await check([weakness], casesFor(...profilesOf(names)));
  expect([...named(checked, "unnoticed")].sort()).toEqual([...names].sort());
  expect(checked.result.passed).toBe(false);
});

test("every case has a server that it catches", () => {
  const caught = new Set(weak.flatMap(([, names]) => names).map((name) => name.replace(/^.*\./, "")));
  const all = new Set(allCases.filter((one) => one !== page).map(({ name }) => name.replace(/^.*\./, "")));
  expect([...all].filter((name) => !caught.has(name))).toEqual([]);
});

test("what the RFC leaves open is not required", async () => {
  const checked = await check(["lookup-404", "json", "no-groups"], casesFor("okta"));
  expect(named(checked, "unnoticed")).toEqual([]);
  expect(named(checked, "not-required")).toEqual([
    "media-type",
    "okta.lookup-none",
    ...["create", "add", "add-twice", "unknown-member", "remove", "rename", "delete"].map(
      (name) => `okta.group-${name}`,
    ),
  ]);
  const others = await check(
    ["no-manager", "no-target", "refuses-member-twice", "skips-unknown-members", "forbids-delete"],
    casesFor("entra"),
  );
  expect(named(others, "unnoticed")).toEqual([]);
  expect(named(others, "not-required")).toEqual([
    ...["delete", "delete-twice", "entra.manager", "entra.update-new", "entra.group-add-twice"],
    "entra.group-unknown-member",
  ]);
  expect(named(others, "not-reached")).toEqual(["entra.create-again"]);
});

test("a 409 without scimType is a remark, and says nothing of a second user", async () => {
  const { result } = await check(["conflict-without-type"], casesFor("standard"));
  expect(result.passed).toBe(true);
  const did = (name: string): string => result.cases.find((one) => one.name === `standard.${name}`)?.did ?? "";
  expect(did("create-twice")).toBe("answered 409; without scimType uniqueness (RFC 7644 3.12)");
  expect(did("create-repeated")).toBe("has the user once");
});

test("users that stay after DELETE are deactivated and listed, and hide no verdict", async () => {
  const checked = await check(["keeps-removed"], casesFor("standard"));
  const unreached = named(checked, "not-reached");
  expect(unreached).toEqual(["delete-twice", "standard.create-again"]);
  expect(checked.left.length).toBeGreaterThan(20);
  expect(new Set(checked.left.map(({ state }) => state))).toEqual(new Set(["deactivated"]));
});

test("an app that removes nobody: the users are deactivated and listed, and one serves all controls", async () => {
  const checked = await check(["no-delete"], casesFor("okta"));
  expect(named(checked, "unnoticed")).toEqual(["okta.group-delete"]);
  const own = [...checked.app.users.values()].filter(({ id }) => id !== "7");
  expect(own.every(({ active }) => active === false)).toBe(true);
  expect(checked.left.map(({ name, state }) => `${name} ${state}`).toSorted()).toEqual(
    [
      ...own.map(({ userName }) => `${String(userName)} deactivated`),
      ...[...checked.app.groups.values()].map(({ displayName }) => `${String(displayName)} active`),
    ].toSorted(),
  );
  expect(checked.app.users.get("7")?.["active"]).toBe(true);
  const hopeless = await check(["no-delete", "ignores-active"], [otherTenant]);
  expect(new Set(hopeless.left.map(({ state }) => state))).toEqual(new Set(["active"]));
});

test("a server that fails, is busy, or is gone: never noticed", async () => {
  const app = await scimServer();
  const run = async (name: string): Promise<RunResult> => {
    const attempts = attemptsOf({
      ...{
        app: { url: app.url, token: app.token },
        otherToken: null,
        keeps: false,
        emailDomain,
        lookup: nearLookup(undefined),
      },
      ...{ ...checkRun, wait: () => Promise.resolve() },
    });
    const cases = allCases.filter((one) => one.name === name);
    const result = await runScim(checkRun, attempts, cases);
    await attempts.people.close();
    return result;
  };
  app.hook = ({ method, body }) => (method === "PATCH" && body !== null ? { status: 500, body: {} } : null);
  const failed = await run("standard.deactivate");
  expect(failed.cases[1]).toMatchObject({ verdict: "unnoticed", did: "failed: answered 500" });

  let busy = 3;
  app.hook = () => (busy-- > 0 ? { status: 429, headers: { "retry-after": "0" }, body: {} } : null);
  expect((await run("standard.deactivate")).passed).toBe(true);

  // Repeats the token wherever it can.
  app.hook = ({ method, authorization }) =>
    method === "PATCH" ? { status: 400, body: { scimType: "invalidValue", detail: authorization } } : null;
  const told = await run("standard.deactivate");
  expect(told.cases[1]?.did).toBe("refused it: answered 400 invalidValue: Bearer …");
  expect(JSON.stringify(told)).not.toContain(app.token);

  await app.close();
  const gone = await run("standard.deactivate");
  expect(gone.cases.map(({ verdict }) => verdict)).toEqual(["not-reached", "not-reached", "not-reached"]);
});

test("--keep leaves everything in the app", async () => {
  const { app } = await check([], casesFor("standard"), true);
  expect(app.users.size).toBeGreaterThan(20);
  expect(app.groups.size).toBe(7);
});
