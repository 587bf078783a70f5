import { test, type TestAPI } from "vitest";
import { commandLineOfTest } from "./core/testing/ledger/advice.ts";
import { ledgerText } from "./core/testing/ledger/expect.ts";
import { createIdp, type Idp, type IdpOptions } from "./index.ts";

/** `dev-idp/vitest`: tests that get an `idp`. */

/** How long the server may take to start, in milliseconds. */
const startTimeoutMs = 60_000;

/** The fixtures of a test. */
export interface IdpFixtures {
  /** In memory on a free port unless the options say otherwise; reset to its fixtures after each test that uses it. */
  readonly idp: Idp;
  /** The same one for a whole file: `test.beforeAll`, and fixtures with the scope `file`. Reset after the file. */
  readonly idpOfFile: Idp;
  /** The same one for fixtures with the scope `worker`, as an app that is started once for all files of a worker. */
  readonly idpOfWorker: Idp;
}

/**
 * A `test` of vitest with an `idp` for each worker, which starts in a hook before the first test of a file, with a time limit of its own
 * (60 s), is reset after each test, and closes with the worker. It is not for `test.concurrent`: tests that run at the same time would reset
 * each other, so start one for each with `createIdp`. A failed test prints the requests of its app.
 *
 * @param options as for {@link createIdp}; the port is a free one unless given
 * @throws {OperationError} as {@link createIdp}, in that hook
 */
export const idpTest = (options: IdpOptions = {}): TestAPI<IdpFixtures> => {
  const own = test.extend<IdpFixtures>({
    idpOfWorker: [
      // vitest reads from the parameters what a fixture needs: they have to be written out.
      // eslint-disable-next-line no-empty-pattern
      async ({}, use) => {
        const idp = await createIdp({ commandLine: commandLineOfTest, ...options });
        await use(idp);
        await idp.close();
      },
      { scope: "worker" },
    ],
    idpOfFile: [
      async ({ idpOfWorker }, use) => {
        await use(idpOfWorker);
        await idpOfWorker.requests.clear();
        await idpOfWorker.reset();
      },
      { scope: "file" },
    ],
    idp: async ({ idpOfFile, onTestFailed }, use) => {
      const { requests } = idpOfFile;
      const asked = async (): Promise<string> => ledgerText(await requests.list());
      let before: string | null = null;
      onTestFailed(async () => {
        console.error(before ?? (await asked()));
      });
      await use(idpOfFile);
      before = await asked();
      await requests.clear();
      await idpOfFile.reset();
    },
  });
  // In a hook, so that the start does not take from the time of the first test. vitest before 4.1 has no hooks with fixtures.
  (own as Partial<typeof own>).beforeAll?.(({ idpOfWorker }) => idpOfWorker.issuer, startTimeoutMs);
  return own;
};
