import type { RequestListener } from "node:http";
import { changeFixtures, type FixtureChange } from "./core/fixtures/apply/change.ts";
import type { Settings } from "./core/context.ts";
import { OperationError } from "./core/errors.ts";
import type { FixtureFile } from "./core/fixtures/schema/schema.ts";
import type { FixtureSource } from "./core/fixtures/read/source.ts";
import type { GrantSelection, GrantView } from "./core/grants/admin.ts";
import type { IssueCodeInput, IssuedCode, IssueInput } from "./core/tokens/issue.ts";
import type { TokenResponse } from "./core/tokens/response.ts";
import {
  runOperation,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from "./core/operations/table.ts";
import type { ResetResult } from "./core/fixtures/apply/reset.ts";
import type { ClockState } from "./core/testing/clock.ts";
import type { ExpireInput, ExpireResult } from "./core/testing/expire.ts";
import type { RestoreResult, SnapshotView } from "./core/testing/snapshots.ts";
import type { SeedResult } from "./core/fixtures/apply/seed.ts";
import type { Fault, FaultInput } from "./core/testing/faults/faults.ts";
import type { Tls } from "./http/node-server.ts";
import type { Expectation, ExpectResult } from "./core/testing/expect.ts";
import { ExpectationError } from "./core/testing/expect-text.ts";
import type { RequestFilter } from "./core/testing/filter.ts";
import type { RequestEvent, RequestRecord } from "./core/testing/record.ts";
import type { IdpOptions, OneFixture } from "./serve/options.ts";
import { startServer } from "./serve/server.ts";
import { explained } from "./uncaught.ts";

/** The library: an identity provider as an object of a program. */

// The errors it throws, and the types of its input and output.
export { OAuthError, OperationError } from "./core/errors.ts";
export { ExpectationError } from "./core/testing/expect-text.ts";
export { hintText } from "./core/hint.ts";
export type { CommandLine, Hint } from "./core/hint.ts";
export { DataFileError, LockedError, StorageError } from "./store/store.ts";
export type { OAuthErrorCode, OperationErrorCode, Problem } from "./core/errors.ts";
export type { FixtureClient } from "./core/fixtures/schema/client.ts";
export type { FixtureUser } from "./core/fixtures/schema/user.ts";
export type { FixtureChange, FixtureFile, FixtureSource, GrantSelection, GrantView };
export type { Fault, FaultInput };
export type { IssueCodeInput, IssuedCode, IssueInput, Settings };
export type { OperationInput, OperationName, OperationOutput, RequestEvent, ResetResult, SeedResult };
export type { ClockState, ExpireInput, ExpireResult, RestoreResult, SnapshotView, Tls, TokenResponse };
export type { Expectation, ExpectResult, RequestFilter, RequestRecord };
export type { IdpOptions, OneFixture };

/** The time that the server decides by; clients have their own. Whatever was revoked stays revoked, whichever way it moves. */
export interface IdpClock {
  show(): Promise<ClockState>;
  /** @param by seconds, or a text like "31m" */
  advance(by: number | string): Promise<ClockState>;
  /** @param to ISO 8601 */
  set(to: string | Date): Promise<ClockState>;
  /** It can still be advanced and set. */
  freeze(): Promise<ClockState>;
  /** Shows the real time again. */
  reset(): Promise<ClockState>;
}

/** A running identity provider. */
export interface Idp {
  readonly issuer: string;
  readonly port: number;
  /** The Express app, for supertest. */
  readonly app: RequestListener;
  /** Opens the control API. */
  readonly adminToken: string;
  /** What the fixtures added and changed. */
  readonly seeded: SeedResult;
  issueGrant(input: IssueInput): Promise<GrantView>;
  issueCode(input: IssueCodeInput): Promise<IssuedCode>;
  issueTokens(input: IssueInput & { readonly nonce?: string }): Promise<TokenResponse>;
  revoke(selection: GrantSelection): Promise<{ readonly revoked: readonly GrantView[] }>;
  /** Responses that are wrong on purpose: `idp.faults.add({ endpoint: "token", status: 503 })`. */
  readonly faults: {
    add(fault: FaultInput): Promise<Fault>;
    list(): Promise<readonly Fault[]>;
    remove(id: string): Promise<null>;
    clear(): Promise<null>;
  };
  /** Saves all of the state under a name: users, clients, grants, sessions, revocations, keys and settings. */
  snapshot(name: string): Promise<SnapshotView>;
  /** Goes back to a snapshot: what was revoked since is valid again, and what was issued since is not. */
  restore(name: string): Promise<RestoreResult>;
  /**
   * Lets what was issued so far expire now, and leaves every clock alone: access tokens, unless something else is named. What is
   * issued afterwards is not affected. At least one of user and client, or `all`.
   */
  expire(what: ExpireInput): Promise<ExpireResult>;
  /** What the app asked: the last requests, without their secrets. */
  readonly requests: {
    /** The oldest first. */
    list(filter?: RequestFilter): Promise<readonly RequestRecord[]>;
    show(id: string): Promise<RequestRecord>;
    clear(): Promise<null>;
  };
  /**
   * Says whether the app asked what it should: `await idp.expect({ endpoint: "token", grant_type: "refresh_token", times: 1 })`.
   * @throws {ExpectationError} with the nearest misses, if it did not; {OperationError} usage
   */
  expect(expectation: Expectation): Promise<ExpectResult>;
  /** Moves the clock of the server, until it is reset. */
  readonly clock: IdpClock;
  /** Any operation of the control API, by its name: `idp.call("users.suspend", { username: "bob" })`. */
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>;
  /**
   * Goes back to the fixtures, as at the start; only the signing keys stay. Every token issued before becomes invalid,
   * permanently. Fast enough to run after each test.
   */
  reset(): Promise<ResetResult>;
  /**
   * Replaces the fixtures in use while it runs: applies what changed; sessions and everything else stay. From then on, {@link reset}
   * goes back to these.
   */
  changeFixtures(sources: readonly FixtureSource[]): Promise<FixtureChange>;
  /** Resolves once it is closed, whoever closed it. */
  readonly closed: Promise<void>;
  /** Answers the open requests, writes everything to disk, and leaves nothing open. From then on, every other method is refused. */
  close(): Promise<void>;
}

/**
 * Starts an identity provider; it is listening when this resolves.
 * @throws {OperationError} usage, conflict (port taken), invalid (fixtures), not_found (the user of `login: auto:`)
 * @throws {LockedError | DataFileError | StorageError} of the data folder
 */
export const createIdp = (options: IdpOptions = {}): Promise<Idp> =>
  explained(async () => {
    const { issuer, port, app, adminToken, isClosing, closed, close } = await startServer(options);
    const { ctx, seeded } = issuer;
    /** After a close, data in memory would still answer, although no request reaches it any more. */
    const whileOpen = <T>(work: () => Promise<T>): Promise<T> =>
      explained(async () => {
        if (!isClosing()) return work();
        throw new OperationError("no_server", "this idp is closed", {
          hint: "Close it after its last use, for example in afterAll, or start another one: createIdp()",
        });
      });
    const call: Idp["call"] = (name, input) => whileOpen(() => runOperation(ctx, name, input, { server: null }));
    return {
      get issuer() {
        return ctx.issuer;
      },
      ...{ port, app, adminToken, seeded },
      issueGrant: (input) => call("issue.grant", input),
      issueCode: (input) => call("issue.code", input),
      issueTokens: (input) => call("issue.tokens", input),
      revoke: (selection) => call("revoke", selection),
      faults: {
        add: (fault) => call("faults.add", { fault: { ...fault } }),
        list: () => call("faults.list", {}),
        remove: (id) => call("faults.remove", { id }),
        clear: () => call("faults.clear", {}),
      },
      snapshot: (name) => call("snapshots.save", { name }),
      restore: (name) => call("snapshots.restore", { name }),
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
      changeFixtures: (others) => whileOpen(() => changeFixtures(ctx, others)),
      reset: () => call("reset", {}),
      ...{ call, closed, close },
    };
  });
