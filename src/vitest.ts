import { test, type TestAPI } from "vitest";
import { ledgerText } from "./core/testing/expect-text.ts";
import { createIdp, type Idp, type IdpOptions } from "./index.ts";

/** `dev-idp/vitest`: tests that get an `idp`. */

/** What a test gets. */
export interface IdpFixtures {
  /** In memory on a free port unless the options say otherwise; brought back to its fixtures after each test that asks for it. */
  readonly idp: Idp;
  /** The same one, for what holds for a whole file: `test.beforeAll`, and fixtures of the scope `file`. Reset after the file. */
  readonly idpOfFile: Idp;
  /** The same one, for fixtures of the scope `worker`: an app that is started once for all files of a worker. */
  readonly idpOfWorker: Idp;
}

/**
 * A `test` of vitest whose tests are handed an `idp`, one for each worker: it starts with the first test that asks for it, is reset after
 * each, and closes with the worker. Tests that do not ask for it start nothing. Not for `test.concurrent`: tests that run at once would
 * reset one another; start one each with `createIdp` there. When a test fails, it prints what its app asked of `idp`.
 *
 * @param options as of {@link createIdp}; the port is a free one unless given
 * @throws {OperationError} as {@link createIdp}, in the first test that asks for it
 */
export const idpTest = (options: IdpOptions = {}): TestAPI<IdpFixtures> =>
  test.extend<IdpFixtures>({
    idpOfWorker: [
      // vitest reads from the parameters what a fixture needs: they have to be written out.
      // eslint-disable-next-line no-empty-pattern
      async ({}, use) => {
        const idp = await createIdp(options);
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
