import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { newFolder } from "../helpers/cli.ts";

/** A server that must stop still answers the requests that came before. */

const users = Array.from({ length: 20 }, (_, index) => ({ username: `user-${index}`, password: `secret ${index}` }));

/** The users of a data folder whose passwords are not there. */
function withoutPassword(folder: string): string[] {
  const { users: all } = JSON.parse(readFileSync(join(folder, "data.json"), "utf8")) as {
    users: { username: string; passwordHash: string | null }[];
  };
  const missing = all.filter(({ username, passwordHash }) => username.startsWith("user-") && passwordHash === null);
  return missing.map(({ username }) => username);
}

test("users that are confirmed while the server stops have their passwords", async () => {
  const data = join(newFolder(), "data");
  const idp = await createIdp({ port: 0, data, fixtures: {} });
  const answer = fetch(`${idp.issuer}/_idp/api/seed`, {
    method: "POST",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ users }),
  });
  await expect.poll(async () => (await idp.call("users.list", {})).length, { interval: 1 }).toBe(users.length);
  await idp.close();
  expect((await answer).status).toBe(200);
  expect(withoutPassword(data)).toEqual([]);
});

test("closing the library reports that passwords are missing", async () => {
  const idp = await createIdp({ port: 0, data: join(newFolder(), "data"), fixtures: {} });
  const seeded = idp.call("seed", { users });
  await expect.poll(async () => (await idp.call("users.list", {})).length, { interval: 1 }).toBe(users.length);
  const refused = expect(seeded).rejects.toThrow(/not all of their passwords.*Apply them again/);
  await idp.close();
  await refused;
});
