import { baseOf } from "./core/base/endpoints.ts";
import { OperationError, type OperationErrorCode } from "./core/base/errors.ts";
import { addressOf } from "./core/records/issuers/issuer-view.ts";
import { requestOf } from "./core/admin/operations/route.ts";
import { operations, type OperationName } from "./core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "./core/admin/operations/table.ts";
import { fixOfTest } from "./core/testing/ledger/advice.ts";
import { ledgerText } from "./core/testing/ledger/expect.ts";
import { issuerMethods, type IssuerMethods } from "./issuer-methods.ts";

/** The part of Playwright's `TestInfo` that is used. */
export interface FailedTestInfo {
  readonly status?: string | undefined;
  readonly expectedStatus?: string | undefined;
  /** The file, the groups and the name of the test. */
  readonly titlePath?: readonly string[];
  /** Puts a text into the report of the test. */
  readonly attach?: (name: string, content: { readonly body: string; readonly contentType: string }) => Promise<void>;
}

/** The part of Playwright's `WorkerInfo` that is used. */
export interface OneWorkerInfo {
  readonly parallelIndex: number;
}

/** A server: one that `createIdp` started, or the one of `webServer`, started with the variable IDP_ADMIN_TOKEN. */
export interface ServerOfTests {
  /** Its first issuer, such as `http://localhost:4370`. */
  readonly issuer: string;
  /** The value of IDP_ADMIN_TOKEN. */
  readonly adminToken: string | undefined;
  /** False if the app knows only the first issuer. Then all workers share it, and nothing is reset or cleared. Default: true. */
  readonly perWorker?: boolean;
}

/** An issuer of a server that runs elsewhere. */
export interface RemoteIssuer extends IssuerMethods {
  readonly issuer: string;
  readonly adminToken: string;
}

/** The fixtures of a worker. */
export interface IdpWorkerFixtures {
  /** The issuer of the worker: `w1` for the first one. It is reset after each test. */
  readonly idp: RemoteIssuer;
}

/** The fixtures of a test. */
export interface IdpTestFixtures {
  /** Every test has it by itself: it prints the requests of a failed test, and resets the issuer. */
  readonly idpRequests: undefined;
}

/** The fixtures as Playwright takes them. `auto`: every test has it, without naming it. */
interface PlaywrightFixtures {
  readonly idp: [
    (fixtures: object, use: (idp: RemoteIssuer) => Promise<void>, workerInfo: OneWorkerInfo) => Promise<void>,
    { scope: "worker" },
  ];
  readonly idpRequests: [
    (
      fixtures: IdpWorkerFixtures,
      use: (nothing: undefined) => Promise<void>,
      testInfo: FailedTestInfo,
    ) => Promise<void>,
    { auto: true },
  ];
}

/**
 * Fixtures for `test.extend` of Playwright: `idp` is the issuer of the worker, which is made if the server does not have it. With an
 * issuer for each worker, each test begins with its fixtures and without recorded requests. The requests of a failed test are printed, and attached to it.
 * `const test = base.extend(idpFixtures({ issuer, adminToken }))`.
 * @throws {OperationError} in the test, if the server does not answer or refuses the token
 */
export const idpFixtures = (server: ServerOfTests): PlaywrightFixtures => {
  const { perWorker = true } = server;
  return {
    idp: [
      // Playwright reads from the parameters which fixtures are needed, so the pattern has to be there.
      // eslint-disable-next-line no-empty-pattern
      async ({}, use, { parallelIndex }) => {
        await use(perWorker ? await issuerOfWorker(server, parallelIndex) : remoteIssuer(server, null));
      },
      { scope: "worker" },
    ],
    idpRequests: [
      async ({ idp }, use, testInfo) => {
        // Other workers may be in the middle of a test: what they asked stays.
        const before = perWorker ? null : await lastId(idp);
        if (perWorker) await idp.requests.clear();
        await use(undefined);
        if (testInfo.status !== testInfo.expectedStatus) {
          const body = await asked(idp, before);
          // The lines of all workers are printed among each other.
          console.error(
            [...(testInfo.titlePath === undefined ? [] : [testInfo.titlePath.join(" › ")]), body].join("\n"),
          );
          await testInfo.attach?.("idp requests", { body, contentType: "text/plain" });
        }
        if (perWorker) await idp.reset();
      },
      { auto: true },
    ],
  };
};

/** The id of the newest request. There may be none yet. */
async function lastId({ requests }: RemoteIssuer): Promise<string> {
  return (await requests.list()).at(-1)?.id ?? "r0";
}

/**
 * The requests to the issuer. The app of a test may use another one.
 * @param after all workers share the issuer, and the test began after this one; null: it belongs to this worker
 */
async function asked({ issuer, requests }: RemoteIssuer, after: string | null): Promise<string> {
  const listed = await requests.list({ parts: true, ...(after !== null && { since: after }) });
  // The server may be gone when this is read, so that no command reaches it.
  const records = listed.map((record) =>
    record.next ? { ...record, fix: fixOfTest(record.next, record.fix) } : record,
  );
  if (after !== null) {
    const text = ledgerText(records);
    return `${text}\nAll workers share this issuer: requests of tests that ran at the same time are among these.`;
  }
  if (records.length > 0) return ledgerText(records);
  return (
    `This worker has the issuer ${issuer}, which got no requests. If the test has an app, start the app with this issuer; ` +
    "or let all workers share the first one: perWorker: false"
  );
}

/** Playwright replaces a worker after a test that failed. The new one has the same index, and so the same issuer. */
async function issuerOfWorker(server: ServerOfTests, parallelIndex: number): Promise<RemoteIssuer> {
  const name = `w${parallelIndex + 1}`;
  const issuers = await remoteIssuer(server, null).call("issuers.list", {});
  const idp = remoteIssuer(server, name);
  if (issuers.some((issuer) => issuer.name === name)) await idp.reset();
  else await remoteIssuer(server, null).call("issuers.add", { name });
  return idp;
}

/** @param name null for the first issuer */
function remoteIssuer({ issuer: first, adminToken = "" }: ServerOfTests, name: string | null): RemoteIssuer {
  const issuer = addressOf(first, name);
  return {
    issuer,
    adminToken,
    ...issuerMethods(
      () => issuer,
      (operation, input) => call(issuer, adminToken, operation, input),
    ),
  };
}

/** Why the server cannot be asked. Playwright shows the message and no hint. */
function unreachable(issuer: string, { cause }: { readonly cause?: unknown }): string {
  const { code } = Object(cause) as { readonly code?: unknown };
  return typeof code === "string" && /CERT|SELF_SIGNED|UNABLE_TO/.test(code)
    ? `the certificate of ${issuer} is not trusted (${code}): start Playwright with NODE_EXTRA_CA_CERTS=.idp/tls-cert.pem, or the file that idp env names as OIDC_CA_FILE`
    : `nothing answers at ${issuer}`;
}

async function call<N extends OperationName>(
  issuer: string,
  adminToken: string,
  name: N,
  input: OperationInput<N>,
): Promise<OperationOutput<N>> {
  const { method, path, body } = requestOf(operations[name], input);
  const response = await fetch(`${baseOf(issuer)}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body }),
  }).catch((error: unknown) => {
    throw new OperationError("no_server", unreachable(issuer, error as Error), { cause: error });
  });
  if (response.status === 204) return null as OperationOutput<N>;
  if (response.ok) return (await response.json()) as OperationOutput<N>;
  if (response.status === 401) {
    const what = adminToken === "" ? "no admin token was given to idpFixtures" : `${issuer} refuses the admin token`;
    throw new OperationError("usage", `${what} (status 401)`, {
      hint: "Start the server with the variable IDP_ADMIN_TOKEN (idp exec sets it), and give its value to idpFixtures",
    });
  }
  const refusal = (await response.json()) as { readonly error: OperationErrorCode; readonly error_description: string };
  throw new OperationError(refusal.error, refusal.error_description);
}
