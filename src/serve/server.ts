/*
 * serve: opens issuers and serves them. issuer.ts opens one (store, keys, settings, fixtures), server.ts listens and mounts the app,
 * options.ts checks what the caller passes.
 */
import type { RequestListener } from "node:http";
import { isIPv4 } from "node:net";
import { checkSettings } from "../core/fixtures/schema/check-settings.ts";
import type { Context } from "../core/context.ts";
import { plainCommandLine } from "../core/hint.ts";
import { createClock } from "../core/testing/clock.ts";
import { addRoutes, createApp } from "../http/app.ts";
import { listen, type Listening } from "../http/listen.ts";
import { createRenderer } from "../http/pages/render.ts";
import { version } from "../package.ts";
import { randomText } from "../random.ts";
import { openStore } from "../store/open.ts";
import { openIssuer, type Issuer } from "./issuer.ts";
import { checkOptions, type IdpOptions } from "./options.ts";

/**
 * Starting a server:
 *
 *   options.ts checks the options ─▶ open the store (its lock) ─▶ listen (requests wait) ─▶ issuer.ts opens the issuer on the store
 *     ─▶ add its routes ─▶ write the address into the lock ─▶ let the requests in
 *
 * The port comes before the fixtures: the default issuer contains it, and a start that fails because it is taken leaves no data behind.
 */

/** CONTRACT 1. */
const defaultHost = "localhost";

/** A server that answers requests. */
export interface Server {
  readonly issuer: Issuer;
  readonly port: number;
  /** The Express app, for supertest. */
  readonly app: RequestListener;
  readonly adminToken: string;
  /** Whether {@link close} was called. */
  readonly isClosing: () => boolean;
  /** Resolves once it is closed, whoever closed it. */
  readonly closed: Promise<void>;
  /** Answers the open requests, writes everything to disk, and leaves nothing open. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a server; it answers requests when this resolves.
 * @throws {OperationError} usage, conflict (port taken), invalid (fixtures), not_found (the user of `login: auto:`)
 * @throws {LockedError | DataFileError | StorageError} of the data folder
 */
export async function startServer(options: IdpOptions): Promise<Server> {
  checkOptions(options);
  const settings = await checkSettings(options.settings);
  const { now = Date.now, random = randomText, log = () => undefined, host = defaultHost, onProgress } = options;
  const { adminToken = random(24) } = options;
  const clock = createClock(now, () => performance.now());
  const store = await openStore({
    data: options.data ?? null,
    now: clock.now,
    // Later than it could: while a move of the clock writes down what is over, nothing more is forgotten.
    passed: () => clock.passed() - 60_000,
    ...{ kind: "server", version, log },
  });
  let listening: Listening | null = null;
  let issuer: Issuer | null = null;
  // Open requests may wait for passwords, and passwords for the store.
  const closing = createClosing([
    () => issuer?.ctx.ledger.close(),
    () => listening?.close(),
    () => issuer?.close(),
    () => store.close(),
  ]);
  try {
    const app = createApp();
    listening = await listen(app, host, options.port ?? 0, { tls: options.tls ?? null });
    const { port } = listening;
    const scheme = options.tls === undefined ? "http" : "https";
    issuer = await openIssuer(store, {
      ...{ clock, random, log, onProgress, settings },
      issuer: options.issuer ?? `${scheme}://localhost:${port}`,
      fixtures: options.fixtures,
      anyHost: options.allowHosts?.includes("*") === true,
    });
    const base = addIssuer(app, issuer.ctx, { ...options, host, port, adminToken, close: closing.close });
    store.updateLock({ url: localUrl(scheme, host, port) + base, adminToken });
    listening.serve();
    issuer.startBackground();
    return { issuer, port, app, adminToken, ...closing };
  } catch (error) {
    await closing.close().catch((failure: unknown) => {
      log(`after a start that failed: ${String(failure)}`);
    });
    throw error;
  }
}

/** Adds the routes of an issuer to the app, with its control API. @returns the path of the issuer */
function addIssuer(
  app: ReturnType<typeof createApp>,
  ctx: Context,
  options: Pick<
    IdpOptions,
    "templates" | "dynamicRegistration" | "backchannel" | "allowHosts" | "commandLine" | "onRequest"
  > &
    Readonly<{ host: string; port: number; adminToken: string; close: () => Promise<void> }>,
): string {
  const { host, port, adminToken, close } = options;
  const base = new URL(ctx.address).pathname.replace(/\/$/, "");
  const web = {
    ctx,
    renderer: createRenderer(options.templates === undefined ? [] : [options.templates]),
    get issuer() {
      return new URL(ctx.issuer);
    },
    base,
    port: () => port,
    isLocal: host === defaultHost || host === "::1" || (isIPv4(host) && host.startsWith("127.")),
    version,
    dynamicRegistration: options.dynamicRegistration ?? false,
    backchannel: options.backchannel ?? "off",
    // A host name that the operator listens on counts as our own.
    allowedHosts: [...(options.allowHosts ?? []), host],
    commandLine: options.commandLine ?? plainCommandLine,
  };
  const server = { pid: process.pid, startedAt: new Date(ctx.now()).toISOString(), version };
  const onStop = (): void => {
    close().catch((error: unknown) => {
      ctx.log(`stopped, but ${String(error)}`);
    });
  };
  addRoutes(
    app,
    web,
    { adminToken, server, onStop },
    {
      onRequest: options.onRequest,
      onUnexpected: (error) => ctx.log(`unexpected: ${String(error)}`),
    },
  );
  return base;
}

/** Where commands of this machine reach the server; the issuer may be a name that only other machines resolve. */
function localUrl(scheme: string, host: string, port: number): string {
  if (["localhost", "0.0.0.0", "::"].includes(host)) return `${scheme}://localhost:${port}`;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/**
 * Closes one thing after the other, once.
 * @param closers in order; if one fails, the rest are still closed, and the first failure is thrown
 */
function createClosing(
  closers: readonly (() => Promise<void> | void)[],
): Pick<Server, "isClosing" | "closed" | "close"> {
  let onClosed = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    onClosed = resolve;
  });
  const closeAll = async (): Promise<void> => {
    const failures: unknown[] = [];
    for (const close of closers) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    onClosed();
    if (failures.length > 0) throw failures[0];
  };
  let closing: Promise<void> | null = null;
  return { isClosing: () => closing !== null, closed, close: () => (closing ??= closeAll()) };
}
