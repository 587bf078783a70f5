import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";

/** `diff`: what differs between the data and the fixtures, without secrets. */

const fixtures = {
  users: [
    { username: "ann", password: "first-password" },
    { username: "ben", claims: { roles: ["qa"] } },
  ],
  clients: [
    { client_id: "shop", client_secret: "secret-of-the-shop", redirect_uris: ["http://localhost:3000/cb"] },
    { client_id: "spa", redirect_uris: ["http://localhost:5173/cb"], token_endpoint_auth_method: "none" as const },
  ],
  scopes: { orders: { claims: ["email"] } },
  grants: [{ user: "ann", client: "shop", scope: "openid orders" }],
  settings: { access_token_ttl: "10m" },
};
const start = () => serve({ fixtures: [{ value: fixtures }] as never });

test("nothing differs after a start, and after a reset", async () => {
  const idp = await start();
  expect(await idp.call("diff", {})).toEqual({ differs: false, records: [] });
  await idp.call("users.suspend", { username: "ben" });
  await idp.call("reset", {});
  expect(await idp.call("diff", {})).toEqual({ differs: false, records: [] });
});

test("an issuer of the fixtures that is gone is missing; those that are there are compared one by one", async () => {
  const issuers = { one: { users: [{ username: "una" }] }, two: { users: [{ username: "duo" }] } };
  const all = { $schema: "./idp.fixtures.schema.json", ...fixtures, issuers };
  const idp = await serve({ fixtures: [{ value: all }] as never });
  expect(await idp.call("diff", {})).toEqual({ differs: false, records: [], issuers: ["one", "two"] });
  expect(await idp.call("diff.given", { fixtures: all })).toMatchObject({ differs: false });
  await idp.call("issuers.remove", { name: "two" });
  expect(await idp.call("diff", {})).toEqual({
    differs: true,
    records: [{ section: "issuers", name: "two", change: "missing", fields: {} }],
    issuers: ["one"],
  });
});

test("each record that differs says how: changed, only in the data, or missing in it", async () => {
  const idp = await start();
  await idp.call("users.suspend", { username: "ben" });
  await idp.call("users.add", { username: "cleo" });
  await idp.call("clients.remove", { client_id: "spa" });
  await idp.call("seed", { settings: { access_token_ttl: 60 }, scopes: { extra: {} } });
  await idp.revoke({ user: "ann", client: "shop" });
  const { differs, records } = await idp.call("diff", {});
  expect(differs).toBe(true);
  expect(records).toEqual([
    { section: "users", name: "ben", change: "changed", fields: { status: { fixture: "active", data: "suspended" } } },
    { section: "users", name: "cleo", change: "added", fields: {} },
    { section: "clients", name: "spa", change: "missing", fields: {} },
    { section: "scopes", name: "extra", change: "added", fields: {} },
    {
      section: "settings",
      name: "settings",
      change: "changed",
      fields: { access_token_ttl: { fixture: 600, data: 60 } },
    },
    { section: "grants", name: "ann shop", change: "missing", fields: {} },
  ]);
});

test("secrets are compared and never shown; a password only where the fixture has one", async () => {
  const idp = await start();
  await idp.call("users.edit", { username: "ann", password: "another-password" });
  await idp.call("users.edit", { username: "ben", password: "not-in-the-fixture" });
  await idp.call("clients.rotate-secret", { client_id: "shop", client_secret: "rotated-secret-of-shop" });
  const answer = await idp.call("diff", { as: "fixtures" });
  expect(answer.records).toEqual([
    {
      section: "users",
      name: "ann",
      change: "changed",
      fields: { password: { fixture: "(secret)", data: "(secret)" } },
    },
    {
      section: "clients",
      name: "shop",
      change: "changed",
      fields: { client_secret: { fixture: "(secret)", data: "(secret)" } },
    },
  ]);
  expect(JSON.stringify(answer)).not.toMatch(/another-password|first-password|rotated-secret|secret-of-the-shop/);
  await idp.call("users.edit", { username: "ann", password: "first-password" });
  const { records } = await idp.call("diff", {});
  expect(records.map(({ name }) => name)).toEqual(["shop"]);
});

test("a client that registered itself is no difference", async () => {
  const idp = await serve({ fixtures: [{ value: fixtures }] as never, dynamicRegistration: true });
  const body = JSON.stringify({ redirect_uris: ["http://localhost:9/cb"] });
  const sent = await fetch(`${idp.issuer}/api/v2/oauth/register`, {
    ...{ method: "POST", headers: { "content-type": "application/json" }, body },
  });
  expect(sent.status).toBe(201);
  expect(await idp.call("diff", {})).toMatchObject({ differs: false });
});

test("with other fixtures, and what to write into the file: only what differs, without defaults", async () => {
  const idp = await start();
  await idp.call("users.add", { username: "cleo", displayName: "Cleo" });
  const { users: _, ...others } = fixtures;
  const { records, fixtures: written } = await idp.call("diff.given", {
    fixtures: { ...others, users: [{ username: "ann", password: "first-password" }, { username: "ben" }] },
    as: "fixtures",
  });
  expect(records.map(({ name, change }) => [name, change])).toEqual([
    ["ben", "changed"],
    ["cleo", "added"],
  ]);
  expect(written).toEqual({
    users: [
      { username: "ben", claims: { roles: ["qa"] } },
      expect.objectContaining({ username: "cleo", displayName: "Cleo" }),
    ],
  });
});

test("an export as fixtures leaves out what has its default, and seeds the same data", async () => {
  const idp = await start();
  const exported = await idp.call("export", { as: "fixtures" });
  expect(exported).toEqual({
    ...fixtures,
    users: [{ username: "ann" }, { username: "ben", claims: { roles: ["qa"] } }],
    settings: { access_token_ttl: 600 },
  });
  expect((await idp.call("diff.given", { fixtures: exported })).records).toEqual([]);
});
