import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startIdp, type RunningIdp } from "../helpers/cli.ts";
import { createPeople, type People } from "../helpers/people.ts";
import { freePort } from "../helpers/port.ts";
import { longRuns, timeLimit } from "../helpers/runs.ts";

/** `kill -9` of a server that is in use: what it answered still holds when the next one runs on the same data. */

const rounds = longRuns(5, 100);
const adminToken = "the-admin-token-of-this-test";

/** All at once, until the server is killed: after a number of answers, so that no round depends on the machine's speed. */
async function useUntilKilled(idp: RunningIdp, { all, act }: People, answers: number): Promise<void> {
  let left = answers;
  const isKilled = (): boolean => left < 0;
  await Promise.all(
    all.map(async (person) => {
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

test(
  `${rounds} times kill -9 while 16 clients sign in, refresh and revoke: nothing that was answered is lost`,
  { timeout: timeLimit },
  async () => {
    const people = createPeople(16, adminToken);
    const cwd = newFolder();
    writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(people.fixtures));
    const port = await freePort();
    const start = (): Promise<RunningIdp> =>
      startIdp(["--port", port, "--data", "data"], { cwd, env: { IDP_ADMIN_TOKEN: adminToken } });

    let idp = await start();
    for (let round = 0; round < rounds; round++) {
      // A random moment, early in the first rounds and late in the last ones: so each run has much to lose.
      await useUntilKilled(idp, people, Math.floor(((round + Math.random()) / rounds) * 120));
      const data = JSON.parse(readFileSync(join(cwd, "data", "data.json"), "utf8")) as Readonly<
        Record<string, unknown>
      >;
      expect(data).toMatchObject({ schemaVersion: expect.any(Number), users: expect.any(Array) });
      idp = await start();
      const started = idp;
      await people.check(() => started);
    }
    // There was something to lose.
    expect(people.counts.consents).toBeGreaterThan(rounds);
    expect(people.counts.refreshes).toBeGreaterThan(5 * rounds);
    expect(people.counts.revocations).toBeGreaterThan(rounds);
  },
);
