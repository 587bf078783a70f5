import type { FixtureChange } from "./core/admin/seed/apply.ts";
import type { Settings } from "./core/context.ts";
import type { IssuerView } from "./core/records/issuers/issuer-view.ts";
import type { FixtureFile } from "./core/admin/fixtures/schema.ts";
import type { FixtureSource } from "./core/base/fixture-files/source.ts";
import type { GrantSelection, GrantView } from "./core/sign-in/grants/admin.ts";
import type { IssueCodeInput, IssuedCode, IssueInput } from "./core/protocol/tokens/issue.ts";
import type { TokenResponse } from "./core/protocol/tokens/settle.ts";
import type { OperationName } from "./core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "./core/admin/operations/table.ts";
import type { ResetResult } from "./core/admin/seed/reset.ts";
import type { ClockState } from "./core/base/clock.ts";
import type { ExpireInput, ExpireResult } from "./core/testing/controls/expire.ts";
import type { RestoreResult, SnapshotView } from "./core/testing/controls/snapshots.ts";
import type { SeedResult } from "./core/admin/seed/seed.ts";
import type { Fault, FaultInput } from "./core/testing/controls/faults/faults.ts";
import type { Tls } from "./http/node-server.ts";
import type { Expectation, ExpectResult } from "./core/testing/ledger/expect.ts";
import type { RequestFilter } from "./core/testing/ledger/filter.ts";
import type { RequestEvent, RequestRecord } from "./core/testing/ledger/request-json.ts";
import type { IdpOptions, OneFixture } from "./serve/options.ts";
import { startServer } from "./serve/server.ts";
import type { Idp } from "./idp.ts";
import { idpOf } from "./idp-of-server.ts";
import type { IdpClock, IssuerMethods } from "./issuer-methods.ts";
import { explained } from "./serve/uncaught.ts";

// The errors that the library throws, and the types of its input and output.
export { OAuthError, OperationError } from "./core/base/errors.ts";
export { signInWithoutBrowser } from "./client/sign-in-without-browser.ts";
export { SignInError } from "./client/app/sign-in-error.ts";
export type { SignedInAt, SignInAtOptions } from "./sign-in-at.ts";
export type { SignedInWithoutBrowser, SignInWithoutBrowserOptions } from "./client/sign-in-without-browser.ts";
export type { OnToken, OnTokenInput } from "./core/context.ts";
export { ExpectationError } from "./core/testing/ledger/expect.ts";
export { hintText } from "./core/base/hint.ts";
export type { CommandLine, Hint } from "./core/base/hint.ts";
export { DataFileError, LockedError, StorageError } from "./store/store.ts";
export type { OAuthErrorCode, OperationErrorCode, Problem } from "./core/base/errors.ts";
export type { FixtureClient } from "./core/protocol/client-metadata/schema.ts";
export type { FixtureUser } from "./core/records/users/schema.ts";
export type { FixtureChange, FixtureFile, FixtureSource, GrantSelection, GrantView };
export type { Fault, FaultInput };
export type { IssueCodeInput, IssuedCode, IssueInput, Settings };
export type { OperationInput, OperationName, OperationOutput, RequestEvent, ResetResult, SeedResult };
export type { ClockState, ExpireInput, ExpireResult, RestoreResult, SnapshotView, Tls, TokenResponse };
export type { Expectation, ExpectResult, RequestFilter, RequestRecord };
export type { IdpClock, IssuerMethods, IssuerView };
export type { IdpOptions, OneFixture };
export type { Idp };
export type { IdpIssuer, IdpIssuers } from "./idp.ts";

/**
 * Starts an identity provider; it is listening when this resolves.
 * @throws {OperationError} usage, conflict (port taken), invalid (fixtures), not_found (the user of `login: auto:`)
 * @throws {LockedError | DataFileError | StorageError} of the data folder
 */
export const createIdp = (options: IdpOptions = {}): Promise<Idp> =>
  explained(async () => idpOf(await startServer(options)));
