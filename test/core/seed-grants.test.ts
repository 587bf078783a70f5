import { beforeEach, describe, expect, it } from "vitest";
import type { FixtureFile } from "../../src/core/admin/fixtures/schema.ts";
import type { Grant, User } from "../../src/store/store.ts";
import { linesOf } from "../helpers/fixtures.ts";
import { seededAlice as alice, seededApp as app, seedWorld, type SeedWorld } from "../helpers/seed-context.ts";

/** What applying fixtures does to grants. */

let world: SeedWorld;
beforeEach(() => {
  world = seedWorld();
});

describe("grants", () => {
  const fixtures = (scope: string): FixtureFile => ({
    users: [alice],
    clients: [app],
    grants: [{ user: "alice", client: "app", scope }],
  });

  it("are active, of the fixture, under the same id on every run", async () => {
    await world.start(fixtures("openid email"));
    const grant = await world.grant("alice", "app");
    expect(grant).toMatchObject({ scopes: ["openid", "email"], status: "active", by: "fixture", revokedAt: null });
    world = seedWorld();
    await world.start(fixtures("openid"));
    expect((await world.grant("alice", "app"))?.id).toBe(grant?.id);
  });

  it("keep their epoch, and so their tokens, where only their scopes change", async () => {
    await world.start(fixtures("openid email"));
    const before = await world.grant("alice", "app");
    expect((await world.start(fixtures("openid phone"))).grants.changed).toEqual([
      { name: "alice app", fields: ["scopes"] },
    ]);
    expect(await world.grant("alice", "app")).toMatchObject({ scopes: ["openid", "phone"], epoch: before?.epoch });
  });

  it("that were revoked at run time stay so while the fixture is the same, and get a new epoch when it changes", async () => {
    await world.start(fixtures("openid"));
    const before = await world.grant("alice", "app");
    await world.change((tx) =>
      tx.put("grants", { ...(before as Grant), status: "revoked", revokedAt: "2026-01-01T00:00:00.000Z" }),
    );
    await world.start({ ...fixtures("openid"), scopes: { o: {} } });
    expect((await world.grant("alice", "app"))?.status).toBe("revoked");
    expect((await world.start(fixtures("openid email"))).grants.changed[0]?.fields).toEqual(
      expect.arrayContaining(["status"]),
    );
    const after = await world.grant("alice", "app");
    expect(after).toMatchObject({ id: before?.id, status: "active", revokedAt: null });
    expect(after?.epoch).not.toBe(before?.epoch);
  });

  it("may name users, clients and scopes that only the data has", async () => {
    await world.add({ users: [alice], clients: [{ ...app, scope: "openid o" }], scopes: { o: {} } });
    const grants = [{ user: "alice", client: "app", scope: "openid o" }];
    expect((await world.start({ grants })).grants.added).toEqual(["alice app"]);
    expect(await linesOf(world.start({ grants: [{ user: "alice", client: "app", scope: "openid email" }] }))).toEqual([
      expect.stringContaining('"email" is not in the scope of client "app": "openid o"'),
    ]);
  });

  it("that change while their user was removed at run time are a problem that says what to do", async () => {
    await world.start(fixtures("openid"));
    const { id } = (await world.user("alice")) as User;
    await world.change((tx) => tx.remove("users", id));
    expect((await world.start({ ...fixtures("openid"), scopes: { o: {} } })).grants.same).toBe(1);
    expect(await linesOf(world.start(fixtures("openid email")))).toEqual([
      expect.stringMatching(
        /^f0\.json:1:\d+ grants\[0\]\.user user "alice" was removed from the data .* idp reset brings it back$/,
      ),
    ]);
  });
});
