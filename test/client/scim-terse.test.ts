import { expect, test } from "vitest";
import { nearLookup } from "../../src/check/frame/near.ts";
import { attemptsOf } from "../../src/check/scim/attempt.ts";
import { allCases } from "../../src/check/scim/cases/list.ts";
import { runScim } from "../../src/check/scim/check.ts";
import { profileNames, type Profile } from "../../src/scim/profiles.ts";
import { checkRun } from "../helpers/check-run.ts";
import { terseScim, type Hole } from "../helpers/terse-scim.ts";

/** `idp check scim` on a server of another form, correct or with one hole. Those of scim-server.ts: scim-neglect.test.ts. */

async function check(holes: readonly Hole[], profiles: readonly Profile[], names?: readonly string[]) {
  const app = await terseScim(...holes);
  const attempts = attemptsOf({
    ...{ app: { url: app.url, token: "of-one" }, otherToken: "of-two", keeps: false, emailDomain: "example.com" },
    ...{ lookup: nearLookup(undefined), ...checkRun },
  });
  const cases = allCases.filter(({ name, profile }) =>
    names === undefined
      ? name !== "page" && (profile === undefined || profiles.includes(profile))
      : names.includes(name),
  );
  const { cases: results } = await runScim(checkRun, attempts, cases);
  await attempts.people.close();
  const named = (verdict: string) => results.filter((one) => one.verdict === verdict).map(({ name }) => name);
  return { app, results, named, left: attempts.people.left() };
}

const bad = (verdict: string): boolean => verdict !== "noticed" && verdict !== "works";

test("a correct server of another form is green in every profile, and nothing is left in it", async () => {
  const { app, results, named, left } = await check([], profileNames);
  expect(results.filter(({ verdict }) => bad(verdict)).map(({ name }) => name)).toEqual(["media-type"]);
  expect(named("not-required")).toEqual(["media-type"]);
  expect([app.names("Users"), app.names("Groups"), left]).toEqual([[], [], []]);
});

test("a server without PATCH is green for a directory that sends none", async () => {
  const { named } = await check(["no-patch"], ["okta-put"]);
  expect(named("unnoticed")).toEqual([]);
  expect(named("not-reached")).toEqual([]);
  expect(named("not-required")).toEqual(["patch-invalid", "media-type"]);
});

const holes: readonly (readonly [Hole, readonly Profile[], readonly string[]])[] = [
  ["open-lists", [], ["no-token", "token-wrong"]],
  ["open-writes", [], ["no-token", "token-wrong"]],
  ["unknown-500", ["standard"], ["not-found", "delete", "delete-twice", "other-tenant"]],
  ["unknown-empty", ["standard"], ["not-found", "delete"]],
  ["takes-ids", ["standard"], ["standard.create-id"]],
  ["put-crosses-tenants", [], ["other-tenant"]],
  ["needs-name", [], ["null-values"]],
  ["needs-emails", [], ["empty-values", "null-values"]],
  ["needs-text", [], ["null-values"]],
];

test.each(holes)("%s: %j alone", async (hole, profiles, names) => {
  const { named } = await check([hole], profiles);
  expect(named("unnoticed").toSorted()).toEqual([...names].toSorted());
});

test("a user on no page, though it is not one of the check's", async () => {
  const { results } = await check(["zero-based"], [], ["page"]);
  expect(results.find(({ name }) => name === "page")).toMatchObject({
    verdict: "unnoticed",
    did: "says that there are 1 users more than its pages have",
  });
});

test("a server that answers no list says nothing of lists", async () => {
  const { named } = await check(["no-lists"], [], ["list-envelope"]);
  expect(named("not-reached")).toEqual(["list-envelope"]);
});

test("a token of another tenant is taken by a server that answers 404 where a lookup finds nobody", async () => {
  const { named } = await check(["lookup-404"], [], ["other-tenant"]);
  expect(named("noticed")).toEqual(["other-tenant"]);
  const shared = await check(["lookup-404", "put-crosses-tenants"], [], ["other-tenant"]);
  expect(shared.named("unnoticed")).toEqual(["other-tenant"]);
});

test("groups that stay after DELETE are listed", async () => {
  const { app, left } = await check(["groups-stay"], ["standard"]);
  expect(app.names("Users")).toEqual([]);
  expect(app.names("Groups").length).toBeGreaterThan(3);
  const groups = left.filter(({ kind }) => kind === "group").map(({ name }) => name);
  expect(groups).toHaveLength(app.names("Groups").length);
});

test("a server that keeps few attributes, and an address without a type, has no unnoticed case by PUT", async () => {
  const { named } = await check(["keeps-little"], ["okta", "okta-put"]);
  expect(named("unnoticed")).toEqual([]);
  expect(named("not-reached")).toEqual([]);
  expect(named("not-required").filter((name) => name.startsWith("okta."))).toEqual(
    ["lookup-external", "update", "manager", "replace"].map((name) => `okta.${name}`),
  );
});

test("what a strict server refuses of a new user, it does not have: not required", async () => {
  const { named } = await check(["strict"], ["standard", "entra"]);
  expect(named("unnoticed")).toEqual([]);
  expect(named("not-reached")).toEqual([]);
  expect(named("not-required")).toEqual(["media-type", "standard.manager", "entra.manager"]);
});
