import { expect, test } from "vitest";
import type { RecordedAct } from "../../src/core/records/operators/acts.ts";
import { call, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";

/** What is kept of who asked for what: no secret, little, and nobody pushes out what others did. */

const password = "hunter2-hunter2-of-somebody";

const actsOf = async (server: Awaited<ReturnType<typeof startWithTokens>>): Promise<readonly RecordedAct[]> =>
  (await call(server, server.adminToken, "GET", "/acts")).json;

test("a refused request of megabytes leaves 500 characters", async () => {
  const server = await startWithTokens();
  const long = `"${'é\\"'.repeat(700_000)}`;
  const bodies = [{ name: long }, { by: long }, { id: long, scope: long, username: long }];
  for (const body of bodies) await call(server, tokenOf("eyes"), "POST", "/import", body);
  for (const body of bodies) await call(server, tokenOf("eyes"), "POST", "/seed", body);
  const acts = await actsOf(server);
  expect(acts.map(({ by, status }) => [by, status])).toEqual(acts.map(() => ["eyes", 403]));
  for (const act of acts) expect(JSON.stringify(act).length).toBeLessThanOrEqual(500);
});

test("an accepted request leaves 500 characters, too", async () => {
  const server = await startWithTokens();
  const id = "x".repeat(255);
  const scope = Array.from({ length: 300 }, (_, at) => `scope-${at}`).join(" ");
  await call(server, server.adminToken, "POST", "/users", { username: "pat", id });
  await call(server, server.adminToken, "POST", "/clients", {
    client_id: "c",
    redirect_uris: ["http://localhost/cb"],
    scope,
  });
  for (const act of await actsOf(server)) expect(JSON.stringify(act).length).toBeLessThanOrEqual(500);
});

test.each<[string, string, object]>([
  ["in the place of a name", "/revoke", { user: password }],
  ["in the place of a client", "/issue/tokens", { user: "alice", client: password }],
  ["in an address", "/seed", { issuer: `https://alice:${password}@app.example.test/` }],
  ["beside a name", "/users", { username: "pat", password }],
  ["as a scope", "/issue/grant", { user: "alice", client: "demo-app", scope: password }],
  ["as a time", "/clock/advance", { by: password }],
])("a password %s is not kept", async (_where, path, body) => {
  const server = await startWithTokens();
  for (const who of ["eyes", "qa", "lead"]) await call(server, tokenOf(who), "POST", path, body);
  const acts = await actsOf(server);
  expect(acts.length).toBeGreaterThan(0);
  expect(JSON.stringify(acts)).not.toContain(password);
});

test("what was refused names the records that there are, and no others", async () => {
  const server = await startWithTokens();
  await call(server, tokenOf("eyes"), "POST", "/users/alice/suspend", {});
  await call(server, tokenOf("eyes"), "POST", "/users/nobody/suspend", {});
  expect((await actsOf(server)).map(({ command }) => command)).toEqual([
    "idp users suspend alice",
    "idp users suspend VALUE",
  ]);
});

test("200 refused requests of a reader push out nothing that others did, and leave five", async () => {
  const server = await startWithTokens();
  for (let at = 0; at < 4; at += 1) await call(server, tokenOf("qa"), "POST", "/clock/advance", { by: 1 });
  for (let at = 0; at < 200; at += 1) await call(server, tokenOf("eyes"), "POST", "/clock/reset", {});
  const acts = await actsOf(server);
  expect(acts.filter(({ by, status }) => by === "qa" && status === 200)).toHaveLength(4);
  expect(acts.filter(({ by }) => by === "eyes")).toHaveLength(5);
});

test("of all names, 20 refused ones are kept", async () => {
  const names = Array.from({ length: 6 }, (_, at) => `reader-${at}`);
  const list = names.map((name) => ({ name, role: "reader", token: `reader-token-of-${name}` }) as const);
  const server = await startWithTokens(() => list);
  for (const { token } of list) for (let at = 0; at < 5; at += 1) await call(server, token, "POST", "/clock/reset", {});
  const acts = await actsOf(server);
  expect(acts).toHaveLength(20);
  expect(acts.at(-1)?.by).toBe("reader-5");
});
