import type { RequestListener } from "node:http";
import { createAttempts } from "./core/attempts.ts";
import { tellAll, type Telling } from "./core/backchannel-logout.ts";
import { changeFixtures, type FixtureChange } from "./core/change-fixtures.ts";
import { checkSettings } from "./core/check-settings.ts";
import { createTurns, type Context, type Settings } from "./core/context.ts";
import { defaultPort } from "./core/endpoints.ts";
import { OperationError } from "./core/errors.ts";
import { isObject } from "./core/json-object.ts";
import { didYouMean, unknownHere } from "./core/nearest.ts";
import type { FixtureFile } from "./core/fixtures/schema.ts";
import type { FixtureSource } from "./core/fixtures/source.ts";
import type { GrantSelection, GrantView } from "./core/grants-admin.ts";
import type { IssueCodeInput, IssuedCode, IssueInput } from "./core/issue.ts";
import type { ResetResult } from "./core/reset.ts";
import type { TokenResponse } from "./core/issue-tokens.ts";
import { openKeyRing } from "./core/keys.ts";
import { createPendingPasswords } from "./core/pending-passwords.ts";
import { seed, type SeedOptions, type SeedResult } from "./core/seed.ts";
import { effectiveSettings, storedSettings } from "./core/settings.ts";
import { builtInDemo, findFixtures } from "./fixture-files.ts";
import { createApi } from "./http/api.ts";
import { addRoutes, createApp } from "./http/app.ts";
import { listen, type Tls } from "./http/listen.ts";
import { createRenderer } from "./http/render.ts";
import type { RunningServer } from "./core/operations/operation.ts";
import {
  runOperation,
  type OperationInput,
  type OperationName,
  type OperationOutput,
} from "./core/operations/table.ts";
import type { RequestEvent } from "./http/request-log.ts";
import { version } from "./package.ts";
import { randomText } from "./random.ts";
import { openStore } from "./store/open.ts";
import { explained } from "./uncaught.ts";
import type { ReadTx } from "./store/store.ts";

// What it throws, and the types of what goes in and comes out.
export { OAuthError, OperationError } from "./core/errors.ts";
export { DataFileError, LockedError, StorageError } from "./store/store.ts";
export type { OAuthErrorCode, OperationErrorCode, Problem } from "./core/errors.ts";
export type { FixtureClient } from "./core/fixtures/schema-client.ts";
export type { FixtureUser } from "./core/fixtures/schema-user.ts";
export type { FixtureChange, FixtureFile, FixtureSource, GrantSelection, GrantView };
export type { IssueCodeInput, IssuedCode, IssueInput, Settings };
export type { OperationInput, OperationName, OperationOutput, RequestEvent, ResetResult, SeedResult };
export type { Tls, TokenResponse };

/** What a fixture file holds, the path of a file or folder, or the text of a file. */
export type OneFixture = FixtureFile | string | FixtureSource;

type Fixtures = OneFixture | readonly OneFixture[];

export interface IdpOptions {
  /** The data folder; absent: in memory, nothing is kept. */
  readonly data?: string;
  /**
   * Applied before the first request is answered: what a fixture file holds, paths of files and folders, the texts of files, or a list
   * of these. Absent: the built-in demo. A function is asked again at each reset: for files that may have been changed meanwhile.
   */
  readonly fixtures?: Fixtures | (() => Fixtures);
  /** Is told how far the work on fixtures is; both count entries. */
  readonly onProgress?: SeedOptions["progress"];
  /** 0: a free port. Default 4370. */
  readonly port?: number;
  /** Default `localhost`: loopback only, both 127.0.0.1 and ::1. */
  readonly host?: string;
  /** Clients may register themselves (RFC 7591); off unless set. */
  readonly dynamicRegistration?: boolean;
  /** A folder whose files (pages, `style.css`, `locales/*.json`) go before the built-in ones, file by file. */
  readonly templates?: string;
  /** PEM texts: https instead of http. */
  readonly tls?: Tls;
  /** `dynamic`: discovery that is fetched under another of our host names gives the back-channel endpoints under that name. */
  readonly backchannel?: "off" | "dynamic";
  /** To the letter; default `http://localhost:<port>`, with `tls` `https://localhost:<port>`. */
  readonly issuer?: string;
  /** Host names that are answered beside the loopback ones and the issuer's. */
  readonly allowHosts?: readonly string[];
  /** Win over the settings of the fixtures; times are seconds. */
  readonly settings?: Partial<Settings>;
  /** Opens the control API; at least 16 characters. Absent: one is drawn. */
  readonly adminToken?: string;
  /** The time in milliseconds since 1970. */
  readonly now?: () => number;
  /** `bytes` random bytes as base64url. */
  readonly random?: (bytes: number) => string;
  /** Is told of each request when it is answered. */
  readonly onRequest?: (event: RequestEvent) => void;
  /** Is told what an operator may want to know. */
  readonly log?: (note: string) => void;
}

const optionNames = Object.keys({
  data: true,
  fixtures: true,
  onProgress: true,
  port: true,
  host: true,
  dynamicRegistration: true,
  templates: true,
  tls: true,
  backchannel: true,
  issuer: true,
  allowHosts: true,
  settings: true,
  adminToken: true,
  now: true,
  random: true,
  onRequest: true,
  log: true,
} satisfies Record<keyof IdpOptions, true>);

/** Programs in JavaScript have no compiler. @throws {OperationError} usage */
function checkOptions(options: IdpOptions): void {
  if (!isObject(options)) throw new OperationError("usage", "createIdp takes an object of options");
  const unknown = Object.entries(options).find(([name, value]) => value !== undefined && !optionNames.includes(name));
  if (unknown !== undefined) {
    const [name] = unknown;
    throw new OperationError("usage", `createIdp has no option "${name}"`, {
      hint: didYouMean(name, optionNames, `It has: ${optionNames.join(", ")}`),
    });
  }
  const { port = 0, backchannel = "off" }: IdpOptions = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new OperationError("usage", `port ${JSON.stringify(port)} is not a whole number from 0 to 65535`, {
      hint: "0 takes a free one: createIdp({ port: 0 })",
    });
  }
  if (!["off", "dynamic"].includes(backchannel)) {
    throw new OperationError("usage", `backchannel ${JSON.stringify(backchannel)} is neither "off" nor "dynamic"`, {
      hint: 'For containers: createIdp({ backchannel: "dynamic" }); else leave it out',
    });
  }
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
  /** Any operation of the control API, by its name: `idp.call("users.suspend", { username: "bob" })`. */
  call<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>>;
  /**
   * Back to the fixtures, as if it had just started; only the signing keys stay. Every token that was issued before is dead for good.
   * Quick enough to run after each test.
   */
  reset(): Promise<ResetResult>;
  /**
   * Puts other fixtures in the place of those in use, while it runs: what changed is applied, sessions and everything else stay. They
   * are what {@link reset} goes back to from here on.
   */
  changeFixtures(sources: readonly FixtureSource[]): Promise<FixtureChange>;
  /** Resolves once it is closed, whoever closed it. */
  readonly closed: Promise<void>;
  /** Answers the open requests, puts all on disk, and leaves nothing open. From then on every other method is refused. */
  close(): Promise<void>;
}

/** CONTRACT 1. */
const defaultHost = "localhost";

/** An issuer is a URL that is used to the letter (RFC 8414 2). @throws {OperationError} usage */
function checkIssuer(issuer: string): void {
  const url = URL.canParse(issuer) ? new URL(issuer) : null;
  // RFC 3986 2: what is none of a URL's characters would stand in every address that is told. RFC 6265 4.1.1: no cookie has a path with a semicolon.
  // Two slashes at the beginning of a path would make its redirects lead to another host.
  const isPlain = /^https?:\/\/[^/]+(?:\/(?!\/)|$)/i.test(issuer) && !/%(?![\da-f]{2})/i.test(issuer);
  if (url === null || !isPlain || /[?#@"<>\\;]|[^\x21-\x7e]/.test(issuer)) {
    throw new OperationError(
      "usage",
      `issuer "${issuer}" is not an http or https URL like http://host:port/path, percent-encoded, without query, fragment, user and semicolon`,
      {
        hint: "For example: --issuer http://localhost:4370",
      },
    );
  }
}

function checkAdminToken(token: string): void {
  if (token.length < 16) {
    throw new OperationError("usage", `the admin token has ${token.length} characters; it needs at least 16`, {
      hint: "Make one: openssl rand -hex 16",
    });
  }
  // RFC 6750 2.1: what a header can carry; with any other character nobody could ever send it.
  if (!/^[\w.~+/-]+=*$/.test(token)) {
    throw new OperationError("usage", "the admin token holds a character that no Authorization header can carry", {
      hint: "Letters, digits and - . _ ~ + / only; make one: openssl rand -hex 16",
    });
  }
}

/** Sections of a fixture have other names than the fields of a source. */
const isSource = (one: FixtureFile | FixtureSource): one is FixtureSource =>
  isObject(one) && ("value" in one || ("text" in one && "name" in one));

function sourcesOf(given: IdpOptions["fixtures"]): readonly FixtureSource[] {
  const fixtures = typeof given === "function" ? given() : given;
  if (fixtures === undefined) return [builtInDemo()];
  const all = Array.isArray(fixtures) ? (fixtures as readonly OneFixture[]) : [fixtures as OneFixture];
  return all.flatMap((one) => {
    if (typeof one === "string") return findFixtures([one], process.cwd()).sources;
    return [isSource(one) ? one : { value: one }];
  });
}

/**
 * `auto:alice` means somebody: a user that is not there would be a login page where none is expected.
 * @throws {OperationError} not_found
 */
function checkAutomaticLogin(tx: ReadTx, { login }: Partial<Settings>): void {
  const username = /^auto:(.+)$/.exec(login ?? "")?.[1];
  if (username === undefined) return;
  if (tx.find("users", "username", username) !== undefined) return;
  throw unknownHere(
    new OperationError("not_found", `no user "${username}"`),
    username,
    Array.from(tx.all("users"), (user) => user.username),
  );
}

/** Where commands of this machine reach the server; the issuer may be a name that only others resolve. */
function localUrl(scheme: string, host: string, port: number): string {
  if (["localhost", "0.0.0.0", "::"].includes(host)) return `${scheme}://localhost:${port}`;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Starts an identity provider; it is listening when this resolves.
 * @throws {OperationError} usage, conflict (port taken), invalid (fixtures), not_found (who is signed in without a page)
 * @throws {LockedError | DataFileError | StorageError} of the data folder
 */
export const createIdp = (options: IdpOptions = {}): Promise<Idp> => explained(() => startIdp(options));

async function startIdp(options: IdpOptions): Promise<Idp> {
  checkOptions(options);
  const now = options.now ?? Date.now;
  const random = options.random ?? randomText;
  const log = options.log ?? (() => undefined);
  const adminToken = options.adminToken ?? random(24);
  checkAdminToken(adminToken);
  if (options.issuer !== undefined) checkIssuer(options.issuer);
  const given = await checkSettings(options.settings);

  const store = await openStore({ data: options.data ?? null, now, kind: "server", version, log });
  const closers: (() => Promise<void>)[] = [() => store.close()];
  /** One that fails keeps none of the others from closing; the first failure is thrown in the end. */
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const closer of closers.reverse()) await closer().catch((error: unknown) => failures.push(error));
    onClosed();
    if (failures.length > 0) throw failures[0];
  };
  let onClosed = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => (closing ??= closeAll());
  try {
    const passwords = createPendingPasswords({ store, random }, (error) => {
      log(`passwords could not be written: ${String(error)}`);
    });
    // After the requests under way, which may wait for passwords of theirs.
    closers.push(() => passwords.close());
    const app = createApp();
    const host = options.host ?? defaultHost;
    const listening = await listen(app, host, options.port ?? defaultPort, {
      tls: options.tls ?? null,
      log,
    });
    const scheme = options.tls === undefined ? "http" : "https";
    closers.push(() => listening.close());
    const issuer = options.issuer ?? `${scheme}://localhost:${listening.port}`;
    // What the caller does with their own value later is not what a reset goes back to.
    const copyOf = (source: FixtureSource): FixtureSource =>
      "text" in source || source.builtIn === true ? source : { value: structuredClone(source.value) };
    let asked = typeof options.fixtures === "function" ? options.fixtures : null;
    let sources = sourcesOf(options.fixtures);
    let latest = sources;
    let ended: Telling = [];
    const seeded = await seed({ store, now, random, passwords }, sources, {
      mode: "start",
      progress: options.onProgress,
      onEnded: (sessions) => {
        ended = sessions;
      },
    });
    sources = sources.map(copyOf);
    let settings: Settings;
    const reloadSettings = async (): Promise<void> => {
      settings = effectiveSettings(await store.read(storedSettings), given);
    };
    await reloadSettings();
    await store.read((tx) => checkAutomaticLogin(tx, given));
    const ctx: Context = {
      issuer,
      store,
      keys: await openKeyRing(store, now, random),
      get settings() {
        return settings;
      },
      reloadSettings,
      now,
      random,
      passwords,
      attempts: createAttempts(now),
      fixtures: {
        sources: () => sources,
        latest: () => (latest = asked === null ? sources : sourcesOf(asked)),
        use: (those) => {
          // Others than those that were asked for: a reset goes back to them from now on.
          if (those !== latest) asked = null;
          sources = those.map(copyOf);
        },
        inTurn: createTurns(),
      },
      log,
    };
    // On its way to the disk while the routes are made.
    const issuerKept = store.transaction((tx) => {
      if (tx.get("meta", "issuer")?.value !== issuer) tx.put("meta", { id: "issuer", value: issuer });
    });
    issuerKept.catch(() => undefined);
    const issuerUrl = new URL(issuer);
    const web = {
      ctx,
      renderer: createRenderer(options.templates === undefined ? [] : [options.templates]),
      issuer: issuerUrl,
      base: issuerUrl.pathname.replace(/\/$/, ""),
      port: () => listening.port,
      version,
      dynamicRegistration: options.dynamicRegistration ?? false,
      backchannel: options.backchannel ?? "off",
      // A name that the operator listens on is one of ours.
      allowedHosts: [...(options.allowHosts ?? []), host],
    };
    const onStop = (): void => {
      close().catch((error: unknown) => {
        log(`stopped, but ${String(error)}`);
      });
    };
    const server: RunningServer = { pid: process.pid, startedAt: new Date(now()).toISOString(), version };
    addRoutes(app, web, () => createApi({ ctx, adminToken, server, onStop }), {
      onRequest: options.onRequest,
      onUnexpected: (error) => log(`unexpected: ${String(error)}`),
    });
    await issuerKept;
    store.updateLock({ url: localUrl(scheme, host, listening.port) + web.base, adminToken });
    listening.serve();
    passwords.start();
    // Beside the requests: who starts waits for no client.
    void tellAll(ctx, ended);
    /** In memory all of it would still work, on data that no request reaches any more. */
    const whileOpen = <T>(work: () => Promise<T>): Promise<T> =>
      explained(async () => {
        if (closing === null) return work();
        throw new OperationError("no_server", "this idp is closed: nothing can be asked of it", {
          hint: "Close it when all is done, in an afterAll for example, or start another one: createIdp()",
        });
      });
    const call: Idp["call"] = (name, input) => whileOpen(() => runOperation(ctx, name, input, { server: null }));
    return {
      issuer,
      port: listening.port,
      app,
      adminToken,
      seeded,
      issueGrant: (input) => call("issue.grant", input),
      issueCode: (input) => call("issue.code", input),
      issueTokens: (input) => call("issue.tokens", input),
      revoke: (selection) => call("revoke", selection),
      changeFixtures: (others) => whileOpen(() => changeFixtures(ctx, others)),
      reset: () => call("reset", {}),
      call,
      closed,
      close,
    };
  } catch (error) {
    await close().catch((failure: unknown) => {
      log(`after a start that failed: ${String(failure)}`);
    });
    throw error;
  }
}
