import type { GrantSelection, GrantView } from "./core/sign-in/grants/admin.ts";
import type { ResetResult } from "./core/admin/seed/reset.ts";
import type { OperationName } from "./core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "./core/admin/operations/table.ts";
import type { ClockState } from "./core/base/clock.ts";
import { ExpectationError, type Expectation, type ExpectResult } from "./core/testing/ledger/expect.ts";
import type { ExpireInput, ExpireResult } from "./core/testing/controls/expire.ts";
import type { Fault, FaultInput } from "./core/testing/controls/faults/faults.ts";
import type { RequestFilter } from "./core/testing/ledger/filter.ts";
import type { RequestRecord } from "./core/testing/ledger/request-json.ts";
import type { RestoreResult, SnapshotView } from "./core/testing/controls/snapshots.ts";
import type { IssueCodeInput, IssuedCode, IssueInput } from "./core/protocol/tokens/issue.ts";
import type { TokenResponse } from "./core/protocol/tokens/settle.ts";
import { signInAt, type SignedInAt, type SignInAtOptions } from "./sign-in-at.ts";

/** The clock of the server; clients have their own. What was revoked stays revoked, whichever way the clock moves. */
export interface IdpClock {
  /** The time that the clock shows, and how far it was moved. */
  show(): Promise<ClockState>;
  /** @param by seconds, or a text such as "31m" or "-5m" @throws {OperationError} usage */
  advance(by: number | string): Promise<ClockState>;
  /** @param to a time, as ISO 8601 @throws {OperationError} usage */
  set(to: string | Date): Promise<ClockState>;
  /** Stops the clock, which can still be advanced and set. */
  freeze(): Promise<ClockState>;
  /** Goes back to the real time. */
  reset(): Promise<ClockState>;
}

/** What can be done with an issuer. Input that is not valid is an {@link OperationError} with the code usage. */
export interface IssuerMethods {
  /**
   * Records a consent, as if the user had allowed the client these scopes.
   * @throws {OperationError} not_found for an unknown user or client; refused where an authorization request would be
   */
  issueGrant(input: IssueInput): Promise<GrantView>;
  /**
   * Gives an authorization code, and the address that brings it to the app, without a browser.
   * @throws {OperationError} not_found for an unknown user or client; refused where an authorization request would be
   */
  issueCode(input: IssueCodeInput): Promise<IssuedCode>;
  /**
   * Gives the tokens of a sign-in, without a browser.
   * @param input `nonce` goes into the ID token; `acr`: as if the user had met this value
   * @throws {OperationError} not_found for an unknown user or client; refused where a sign-in would be
   */
  issueTokens(input: IssueInput & { readonly nonce?: string; readonly acr?: string }): Promise<TokenResponse>;
  /**
   * Revokes grants, and with each all tokens of that user and client. For all grants: `idp.call("revoke", { all: true })`.
   * @returns the grants that were active until now
   * @throws {OperationError} not_found for an unknown user, client or grant
   */
  revoke(selection: GrantSelection): Promise<{ readonly revoked: readonly GrantView[] }>;
  /** Wrong responses on purpose: `idp.faults.add({ endpoint: "token", status: 503 })`. */
  readonly faults: {
    /** The fault is taken by the next matching request, unless it has `times`, `skip` or `always`. */
    add(fault: FaultInput): Promise<Fault>;
    /** Those that are not used up. */
    list(): Promise<readonly Fault[]>;
    /** @param id such as `x1` @throws {OperationError} not_found */
    remove(id: string): Promise<null>;
    /** Removes all of them. */
    clear(): Promise<null>;
  };
  /**
   * Signs a user in at an app, as a person would in a browser, and gives what the browser then holds.
   * @param start the address behind the app's sign-in button
   * @throws {SignInError} with the rule and the fix, if the user is not signed in at the end
   */
  signInAt(start: string | URL, options: SignInAtOptions): Promise<SignedInAt>;
  /**
   * What an identity provider does when somebody leaves: suspends the user, and tells every app.
   * @param user the username
   * @throws {OperationError} not_found
   */
  leave(user: string): Promise<OperationOutput<"users.leave">>;
  /** Users and groups in the SCIM server of an app, as a provisioning client keeps them there. */
  readonly scim: {
    /**
     * Sends what differs from the last push. Without a client, it pushes to each one that has `scim`, and the result is a list.
     * @throws {OperationError} not_found for an unknown user, or a client without `scim`: in push, status and test
     */
    push(input?: OperationInput<"scim.push">): Promise<OperationOutput<"scim.push">>;
    /** What the app has of each user and group, and what is pending. */
    status(input?: OperationInput<"scim.status">): Promise<OperationOutput<"scim.status">>;
    /** Asks what the vendor's console asks at "Test Connection". */
    test(input?: OperationInput<"scim.test">): Promise<OperationOutput<"scim.test">>;
  };
  /**
   * Saves the whole state under a name: users, clients, grants, sessions, revocations, keys and settings. A snapshot of this name is replaced.
   * @param name 1 to 64 letters, digits, `-` and `_`
   */
  snapshot(name: string): Promise<SnapshotView>;
  /**
   * Goes back to a snapshot: what was revoked since is valid again, and what was issued since is not.
   * @param options `keep`: what stays as it is now; otherwise clock and faults go back too
   * @throws {OperationError} not_found
   */
  restore(name: string, options?: { readonly keep?: readonly ("clock" | "faults")[] }): Promise<RestoreResult>;
  /**
   * Lets what was issued so far expire now, without moving a clock: access tokens, unless something else is named. What is issued
   * afterwards is not affected. Needs a user, a client, or `all`.
   * @throws {OperationError} not_found for an unknown user or client
   */
  expire(what: ExpireInput): Promise<ExpireResult>;
  /** The last requests of the app, without their secrets. */
  readonly requests: {
    /** Oldest first. @param filter `parts`: a refused request also has `next`, its fix in parts */
    list(filter?: RequestFilter & { readonly parts?: boolean }): Promise<readonly RequestRecord[]>;
    /** @param id such as `r17` @throws {OperationError} not_found */
    show(id: string): Promise<RequestRecord>;
    /** Forgets all of them. */
    clear(): Promise<null>;
  };
  /**
   * Checks that the app made the right requests: `await idp.expect({ endpoint: "token", grant_type: "refresh_token", times: 1 })`.
   * @throws {ExpectationError} with the nearest misses if it did not; {OperationError} usage
   */
  expect(expectation: Expectation): Promise<ExpectResult>;
  /** Moves the clock of the server, until it is reset. */
  readonly clock: IdpClock;
  /**
   * Any operation of the control API, by its name: `idp.call("users.suspend", { username: "bob" })`.
   * @throws {OperationError} as that operation is refused: usage, not_found, conflict and others
   */
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>;
  /**
   * Goes back to the fixtures, as at the start. Only the signing keys stay. Every token issued before becomes invalid permanently. It is fast
   * enough to run after each test.
   */
  reset(): Promise<ResetResult>;
}

/** @param issuer asked at each use, since it may change @param call runs an operation on the issuer */
export const issuerMethods = (issuer: () => string, call: IssuerMethods["call"]): IssuerMethods => ({
  call,
  signInAt: (start, options) => signInAt(issuer(), call, start, options),
  issueGrant: (input) => call("issue.grant", input),
  issueCode: (input) => call("issue.code", input),
  issueTokens: (input) => call("issue.tokens", input),
  revoke: (selection) => call("revoke", selection),
  faults: {
    add: (fault) => call("faults.add", fault),
    list: () => call("faults.list", {}),
    remove: (id) => call("faults.remove", { id }),
    clear: () => call("faults.clear", {}),
  },
  leave: (user) => call("users.leave", { username: user }),
  scim: {
    push: (input = {}) => call("scim.push", input),
    status: (input = {}) => call("scim.status", input),
    test: (input = {}) => call("scim.test", input),
  },
  snapshot: (name) => call("snapshots.save", { name }),
  restore: (name, options = {}) => call("snapshots.restore", { ...options, name }),
  expire: (what) => call("expire", what),
  requests: {
    list: (filter = {}) => call("requests.list", filter),
    show: (id) => call("requests.show", { id }),
    clear: () => call("requests.clear", {}),
  },
  expect: async (expectation) => {
    const result = await call("expect", expectation);
    if (!result.met) throw new ExpectationError(result);
    return result;
  },
  clock: {
    show: () => call("clock.show", {}),
    advance: (by) => call("clock.advance", { by }),
    set: (to) => call("clock.set", { to: to instanceof Date ? to.toISOString() : to }),
    freeze: () => call("clock.freeze", {}),
    reset: () => call("clock.reset", {}),
  },
  reset: () => call("reset", {}),
});
