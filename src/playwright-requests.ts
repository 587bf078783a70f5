import { ledgerText } from "./core/testing/expect-text.ts";
import type { RequestRecord } from "./core/testing/record.ts";

/** What a test with Playwright asked of `idp`. */

/** The part of Playwright's `TestInfo` that is used. */
export interface FailedTestInfo {
  readonly status?: string | undefined;
  readonly expectedStatus?: string | undefined;
}

/** A server: one that `createIdp` started, or the one of `webServer`, started with the variable IDP_ADMIN_TOKEN. */
export interface ServerOfTests {
  readonly issuer: string;
  readonly adminToken: string;
}

/** A fixture as Playwright takes it. `auto`: every test has it, without naming it. */
type AutoFixture = [
  fixture: (fixtures: object, use: () => Promise<void>, testInfo: FailedTestInfo) => Promise<void>,
  options: { auto: true },
];

/**
 * Fixtures for `test.extend` of Playwright: each test begins with an empty ledger, and a test that fails prints what its app asked of
 * `idp`. `const test = base.extend(idpFixtures({ issuer, adminToken }))`.
 * @throws {Error} in the test, where the server does not answer or refuses the token
 */
export const idpFixtures = (server: ServerOfTests): { idpRequests: AutoFixture } => ({
  idpRequests: [
    // Playwright reads from the parameters which fixtures are needed, so the pattern has to be there.
    // eslint-disable-next-line no-empty-pattern
    async ({}, use, testInfo) => {
      await ask("DELETE", server);
      await use();
      if (testInfo.status === testInfo.expectedStatus) return;
      console.error(ledgerText((await (await ask("GET", server)).json()) as readonly RequestRecord[]));
    },
    { auto: true },
  ],
});

async function ask(method: string, { issuer, adminToken }: ServerOfTests): Promise<Response> {
  const response = await fetch(`${issuer.replace(/\/$/, "")}/_idp/api/requests`, {
    method,
    headers: { authorization: `Bearer ${adminToken}` },
  });
  if (response.ok) return response;
  throw new Error(`${issuer} does not show its requests: status ${response.status}. Is it the right admin token?`);
}
