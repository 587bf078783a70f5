import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { createIdp, type Idp, type IdpOptions } from "../../../src/index.ts";
import type { FixtureFile } from "../../../src/core/admin/fixtures/schema.ts";
import { Browser } from "../../helpers/browser.ts";
import { authorizeUrl, callback } from "../../helpers/client.ts";
import { newDatabase } from "../../helpers/postgres.ts";

/** Fixtures of instances on one store: which are in use, how often a fault of theirs is met, and who makes an issuer of them. */

async function start(store: string, options: IdpOptions = {}): Promise<Idp> {
  const idp = await createIdp({ store, ...options });
  onTestFinished(() => idp.close());
  return idp;
}

const demoApp = { client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] };
const usernames = async (idp: Pick<Idp, "call">): Promise<readonly string[]> =>
  (await idp.call("users.list", {})).map(({ username }) => username);

async function signInAs(idp: Idp, username: string, password: string): Promise<string> {
  const browser = new Browser(idp.issuer);
  const visit = await browser.press(await browser.open(authorizeUrl(idp)), "login-submit", { username, password });
  return visit.page;
}

/** Everything that the database holds. */
async function textOf(store: string): Promise<string> {
  const client = new Client({ connectionString: store });
  await client.connect();
  const { rows } = await client.query<{ text: string }>(
    "select entry as text from idp_journal union all select content from idp_snapshots",
  );
  await client.end();
  return rows.map(({ text }) => text).join("\n");
}

test("fixtures that one instance was reset to are in use at every other, with their passwords, which are not in the database", async () => {
  const store = await newDatabase();
  const own: FixtureFile = { users: [{ username: "alice" }] };
  const [one, two] = [await start(store, { fixtures: own }), await start(store, { fixtures: own })];
  const others = { users: [{ username: "zoe", password: "the secret of zoe" }], clients: [demoApp] };
  await one.call("reset", { fixtures: others });
  await two.call("users.edit", { username: "zoe", password: "another one" });
  await two.reset();
  expect(await usernames(two)).toEqual(["zoe"]);
  for (const idp of [one, two]) {
    expect(await signInAs(idp, "zoe", "another one")).toBe("login");
    expect(await signInAs(idp, "zoe", "the secret of zoe")).toBe("consent");
  }
  expect(await textOf(store)).not.toContain("the secret of zoe");
  // A start brings its own.
  const three = await start(store, { fixtures: own });
  for (const idp of [one, two, three]) {
    await idp.reset();
    expect(await usernames(idp)).toEqual(["alice"]);
  }
});

test("a fault of fixtures applies once in all, at whichever instance; a reset sets it again", async () => {
  const store = await newDatabase();
  const fixtures: FixtureFile = { clients: [demoApp], faults: [{ endpoint: "token", status: 418 }] };
  const statusAt = async ({ port }: Idp): Promise<number> =>
    (await fetch(`http://localhost:${port}/api/v2/oauth/token`, { method: "POST" })).status;
  const one = await start(store, { fixtures });
  expect(await statusAt(one)).toBe(418);
  const two = await start(store, { fixtures });
  for (const idp of [one, two]) expect(await statusAt(idp)).toBe(401);
  await two.reset();
  expect([await statusAt(one), await statusAt(two)]).toEqual([418, 401]);
});

test("two instances add the same issuer at once: one is refused, and the other's issuer is there", async () => {
  const store = await newDatabase();
  const instances = [await start(store), await start(store)];
  const made = await Promise.allSettled(
    instances.map((idp, index) => idp.issuers.add("a", { fixtures: { users: [{ username: `user-${index}` }] } })),
  );
  const winner = made.findIndex(({ status }) => status === "fulfilled");
  expect(made[1 - winner]).toMatchObject({ status: "rejected", reason: { code: "conflict" } });
  for (const idp of instances) {
    await idp.issuers.list();
    const issuer = idp.issuers.get("a");
    expect(await usernames(issuer)).toEqual([`user-${winner}`]);
    await issuer.call("users.remove", { username: `user-${winner}` });
    await issuer.reset();
    expect(await usernames(issuer)).toEqual([`user-${winner}`]);
  }
});
