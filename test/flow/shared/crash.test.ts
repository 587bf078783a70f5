import { expect, test } from "vitest";
import { adminToken, startInstances, type Instances } from "../../helpers/instances.ts";
import { createPeople, type People } from "../../helpers/people.ts";
import { longRuns, timeLimit } from "../../helpers/runs.ts";

/** `kill -9` of one instance of three that are in use: what any of them answered holds at the others, and at the next one. */

const rounds = longRuns(3, 200);

/** All users go on at any instance, until one instance was killed and the others have responded for a while. */
async function useWhileOneDies(instances: Instances, { all, act }: People, victim: number): Promise<void> {
  const killAfter = Math.floor(Math.random() * 60);
  let answers = 0;
  const isKilled = (): boolean => answers > killAfter;
  await Promise.all(
    all.map(async (person) => {
      while (answers < killAfter + 60) {
        const turn = Math.floor(Math.random() * 3);
        if (isKilled() && turn === victim) continue;
        try {
          await act(instances.at(turn), person);
        } catch (error) {
          // Nobody was there any more; anything else is a finding.
          if (isKilled() && turn === victim && error instanceof TypeError) continue;
          throw error;
        }
        answers += 1;
        if (isKilled()) instances.at(victim).child.kill("SIGKILL");
      }
    }),
  );
  expect(await instances.at(victim).ended).toEqual({ code: null, signal: "SIGKILL" });
}

test(
  `${rounds} times kill -9 of one of three instances under load: nothing that was answered is lost`,
  { timeout: timeLimit },
  async () => {
    const people = createPeople(12, adminToken);
    const instances = await startInstances(3, people.fixtures);
    for (let round = 0; round < rounds; round++) {
      const victim = round % 3;
      await useWhileOneDies(instances, people, victim);
      let turn = 0;
      await people.check(() => instances.at(victim + 1 + ((turn += 1) % 2)));
      const started = await instances.restart(victim);
      await people.check(() => started);
    }
    // There was something to lose.
    expect(people.counts.consents).toBeGreaterThan(rounds);
    expect(people.counts.refreshes).toBeGreaterThan(5 * rounds);
    expect(people.counts.revocations).toBeGreaterThan(rounds);
  },
);
