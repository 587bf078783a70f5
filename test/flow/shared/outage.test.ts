import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { exchange, paths, refresh, signIn, userinfo } from "../../helpers/client.ts";
import { adminToken, call, startInstances, type Instance } from "../../helpers/instances.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { createPeople } from "../../helpers/people.ts";
import { longRuns, timeLimit } from "../../helpers/runs.ts";

/** The database or an instance is stopped for a while. Nothing outdated is served, and afterwards everything works again. */

const people = createPeople(6, adminToken);
const isLong = longRuns(1) > 1;

const ask =
  (path: string, init: RequestInit = {}) =>
  async (instance: Instance) => {
    const answer = await fetch(instance.issuer + path, init);
    return { status: answer.status, retryAfter: answer.headers.get("retry-after"), text: await answer.text() };
  };
const health = ask("/_idp/health");

async function healthy(instance: Instance): Promise<void> {
  await expect.poll(async () => (await health(instance)).status, { interval: 50 }).toBe(200);
}

test.each([
  ["stopped", isLong ? 5000 : 0],
  ["paused", isLong ? 10_000 : 0],
] as const)(
  "while the database is %s: 503 at every instance; then all is as before",
  { timeout: timeLimit },
  async (how, ms) => {
    const postgres = await startPostgres();
    const { issuer, at } = await startInstances(2, people.fixtures, { postgres });
    const both = [at(0), at(1)];
    const user = people.all[0]?.name ?? "";
    const { json } = await exchange({ issuer }, (await signIn({ issuer }, { user })).code);
    let isOver = false;
    const statuses = new Set<number>();
    const load = both.map(async (instance) => {
      while (!isOver) statuses.add((await userinfo(instance, json.access_token)).status);
    });
    if (how === "stopped") await postgres.stop();
    else postgres.pause();
    const headers = { authorization: `Bearer ${json.access_token}` };
    const refused = both.flatMap((instance) => [ask(paths.userinfo, { headers })(instance), health(instance)]);
    // Answered while it is still away.
    for (const { status, retryAfter, text } of await Promise.all(refused)) {
      expect([status, retryAfter]).toEqual([503, expect.stringMatching(/^\d+$/)]);
      expect(JSON.parse(text)).toMatchObject({ error: "temporarily_unavailable" });
    }
    await delay(ms);
    if (how === "stopped") await postgres.start();
    else postgres.resume();
    await Promise.all(both.map(healthy));
    isOver = true;
    await Promise.all(load);
    expect([...statuses].sort()).toEqual([200, 503]);
    expect((await userinfo(at(1), json.access_token)).status).toBe(200);
    expect((await refresh(at(0), json.refresh_token)).status).toBe(200);
  },
);

test("a paused instance serves nothing outdated afterwards", { timeout: timeLimit }, async () => {
  const { issuer, at } = await startInstances(2, people.fixtures);
  const tokens = await Promise.all(
    people.all.map(async ({ name: user }) => {
      const { json } = await exchange({ issuer }, (await signIn({ issuer }, { user })).code);
      return { user, access: json.access_token };
    }),
  );
  for (const { access } of tokens) expect((await userinfo(at(0), access)).status).toBe(200);
  at(0).child.kill("SIGSTOP");
  // Sent while it is stopped: it waits in the socket, which is closed without an answer if it was idle for too long.
  const early = tokens.map(({ access }) => userinfo(at(0), access).catch(() => null));
  for (const { user } of tokens) await call(at(1), "POST", "/revoke", { user, client: "demo-app" });
  await delay(isLong ? 10_000 : 1000);
  at(0).child.kill("SIGCONT");
  for (const answer of await Promise.all(early)) expect(answer?.status ?? 403).toBe(403);
  for (const { access } of tokens) expect((await userinfo(at(0), access)).status).toBe(403);
});
