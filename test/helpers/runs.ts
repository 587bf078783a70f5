/** How much is tried: a little at every `npm test`, 10,000 and more with `npm run test:long`. */

const asked = process.env["IDP_RUNS"];

/**
 * @param usual without `IDP_RUNS`
 * @param share which part of `IDP_RUNS` this test takes: 100 means one round for 100 runs
 */
export const longRuns = (usual: number, share = 1): number =>
  asked === undefined ? usual : Math.max(usual, Math.ceil(Number(asked) / share));

/** Milliseconds; generous where much was asked for. */
export const timeLimit = asked === undefined ? 120_000 : 4 * 3_600_000;

/** What a long run did, for docs/reliability.md; a usual one says nothing. */
export function report(what: string, counts: ReadonlyMap<string, number>): void {
  if (asked !== undefined) console.log(`${what}: ${JSON.stringify(Object.fromEntries([...counts].sort()))}`);
}

/**
 * `npm run test:instances`: each server of a test is that many instances on one PostgreSQL, and each request goes to the next one.
 * `of-one-instance.ts` lists what is left out then.
 */
export const testInstances = Number(process.env["IDP_TEST_INSTANCES"] ?? 1);
