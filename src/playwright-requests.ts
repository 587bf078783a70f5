import { ledgerText } from "./core/testing/expect-text.ts";
import type { RequestRecord } from "./core/testing/record.ts";

/** What a test with Playwright asked of `idp`. */

/** What of Playwright's `TestInfo` is used. */
export interface FailedTestInfo {
  readonly status?: string | undefined;
  readonly expectedStatus?: string | undefined;
}

/** A server: one of the library, or the one of `webServer`, started with the variable IDP_ADMIN_TOKEN. */
export interface ServerOfTests {
  readonly issuer: string;
  readonly adminToken: string;
}

/**
 * Prints what was asked of `idp`, if the test failed, and empties the ledger for the next test:
 * `test.afterEach(({}, testInfo) => printRequests(testInfo, { issuer, adminToken }))`.
 * @throws {Error} where the server does not answer, or not with this token
 */
export async function printRequests(testInfo: FailedTestInfo, { issuer, adminToken }: ServerOfTests): Promise<void> {
  const ask = async (method: string): Promise<Response> => {
    const response = await fetch(`${issuer.replace(/\/$/, "")}/_idp/api/requests`, {
      method,
      headers: { authorization: `Bearer ${adminToken}` },
    });
    if (response.ok) return response;
    throw new Error(`${issuer} does not show its requests: status ${response.status}. Is it the right admin token?`);
  };
  if (testInfo.status !== testInfo.expectedStatus) {
    console.error(ledgerText((await (await ask("GET")).json()) as readonly RequestRecord[]));
  }
  await ask("DELETE");
}
