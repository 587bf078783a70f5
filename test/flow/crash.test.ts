import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startIdp, type RunningIdp } from "../helpers/cli.ts";
import { callback, exchange, paths, post, refresh, signIn, userinfo } from "../helpers/client.ts";
import { freePort } from "../helpers/port.ts";
import { longRuns, timeLimit } from "../helpers/runs.ts";

/** `kill -9` of a server that is in use: what it answered still holds when the next one runs on the same data. */

const rounds = longRuns(8, 100);
const adminToken = "the-admin-token-of-this-test";

/** One user with her client, and what the answers have told about her. Whatever a request may still change is unknown until its answer. */
interface Person {
  readonly name: string;
  grant: "none" | "active" | "revoked" | "unknown";
  /** Newest tokens, and the refresh token that was rotated for them. */
  live: { readonly access: string; readonly refresh: string; readonly older: string | null } | null;
  /** Access tokens that died, and what UserInfo has to say of them from then on. */
  readonly dead: { readonly access: string; readonly status: 401 | 403 }[];
}

const counts = { consents: 0, refreshes: 0, revocations: 0 };

async function revokeGrant(idp: RunningIdp, name: string): Promise<void> {
  const { status } = await fetch(`${idp.issuer}/_idp/api/revoke`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${adminToken}` },
    body: JSON.stringify({ user: name, client: "demo-app" }),
  });
  expect(status).toBe(200);
}

async function grantsOf(idp: RunningIdp): Promise<ReadonlyMap<string, string>> {
  const answer = await fetch(`${idp.issuer}/_idp/api/grants`, { headers: { authorization: `Bearer ${adminToken}` } });
  const grants = (await answer.json()) as readonly { readonly user: string; readonly status: string }[];
  return new Map(grants.map(({ user, status }) => [user, status]));
}

/** One thing that a person's client does, drawn anew each time. A request that is never answered leaves by a throw. */
async function act(idp: RunningIdp, person: Person): Promise<void> {
  const { live } = person;
  person.live = null;
  if (live === null) {
    if (person.grant !== "active") person.grant = "unknown";
    const { code } = await signIn(idp, { user: person.name, scope: "openid email" });
    person.grant = "active";
    counts.consents += 1;
    const { status, json } = await exchange(idp, code);
    expect(status).toBe(200);
    person.live = { access: json.access_token, refresh: json.refresh_token, older: null };
    return;
  }
  const dice = Math.random();
  if (dice < 0.8) {
    const { status, json } = await refresh(idp, live.refresh);
    expect(status).toBe(200);
    counts.refreshes += 1;
    person.live = { access: json.access_token, refresh: json.refresh_token, older: live.refresh };
  } else if (dice < 0.9) {
    expect((await post(idp, paths.revoke, { token: live.refresh })).status).toBe(200);
    counts.revocations += 1;
    person.dead.push({ access: live.access, status: 401 });
  } else {
    person.grant = "unknown";
    await revokeGrant(idp, person.name);
    person.grant = "revoked";
    counts.revocations += 1;
    person.dead.push({ access: live.access, status: 403 });
  }
}

/** All at once, until the server is killed: after a number of answers, so that no round depends on the machine's speed. */
async function useUntilKilled(idp: RunningIdp, people: readonly Person[], answers: number): Promise<void> {
  let left = answers;
  const isKilled = (): boolean => left < 0;
  await Promise.all(
    people.map(async (person) => {
      while (!isKilled()) {
        try {
          await act(idp, person);
        } catch (error) {
          // Nobody was there any more; anything else is a finding.
          if (isKilled() && error instanceof TypeError) return;
          throw error;
        }
        left -= 1;
        if (isKilled()) idp.child.kill("SIGKILL");
      }
    }),
  );
  expect(await idp.ended).toEqual({ code: null, signal: "SIGKILL" });
}

async function check(idp: RunningIdp, people: readonly Person[]): Promise<void> {
  const grants = await grantsOf(idp);
  for (const { name, grant } of people) if (grant !== "unknown") expect(grants.get(name) ?? "none").toBe(grant);
  await Promise.all(
    people.map(async (person) => {
      for (const { access, status } of person.dead) expect((await userinfo(idp, access)).status).toBe(status);
      const { live } = person;
      if (live === null) return;
      expect((await userinfo(idp, live.access)).status).toBe(200);
      const { status, json } = await refresh(idp, live.refresh);
      expect(status).toBe(200);
      person.live = { access: json.access_token, refresh: json.refresh_token, older: live.refresh };
      if (live.older === null || Math.random() < 0.5) return;
      // The older one is not only refused: its use is theft, and its family dies.
      expect(await refresh(idp, live.older)).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
      person.live = null;
      person.dead.push({ access: json.access_token, status: 401 });
    }),
  );
}

test(
  `${rounds} times kill -9 while 16 clients sign in, refresh and revoke: nothing that was answered is lost`,
  { timeout: timeLimit },
  async () => {
    const people: readonly Person[] = Array.from({ length: 16 }, (_, index) => ({
      name: `user-${index}`,
      grant: "none",
      live: null,
      dead: [],
    }));
    const cwd = newFolder();
    writeFileSync(
      join(cwd, "idp.fixtures.json"),
      JSON.stringify({
        users: people.map(({ name }) => ({ username: name })),
        clients: [{ client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] }],
      }),
    );
    const port = await freePort();
    const start = (): Promise<RunningIdp> =>
      startIdp(["--port", port, "--data", "data"], { cwd, env: { IDP_ADMIN_TOKEN: adminToken } });

    let idp = await start();
    for (let round = 0; round < rounds; round++) {
      await useUntilKilled(idp, people, Math.floor(Math.random() * 60));
      const data = JSON.parse(readFileSync(join(cwd, "data", "data.json"), "utf8")) as Readonly<
        Record<string, unknown>
      >;
      expect(data).toMatchObject({ schemaVersion: expect.any(Number), users: expect.any(Array) });
      idp = await start();
      await check(idp, people);
    }
    // There was something to lose.
    expect(counts.consents).toBeGreaterThan(rounds);
    expect(counts.refreshes).toBeGreaterThan(5 * rounds);
    expect(counts.revocations).toBeGreaterThan(rounds);
  },
);
