/*
 * serve: opens issuers and serves them. context.ts composes the context of one, issuer.ts opens it (store, keys, settings, fixtures), registry.ts
 * has those of a process, server.ts listens and mounts the app, options.ts checks what the caller passes. fixture-files.ts finds and reads fixture
 * files.
 */
import type { RequestListener } from "node:http";
import type { RequestHandler } from "express";
import { colorNote } from "../core/base/brand/brand.ts";
import { portOf } from "../core/base/endpoints.ts";
import { catchUp } from "../core/base/derived.ts";
import { checkSettings } from "../core/admin/fixtures/prepare.ts";
import { plainCommandLine, type CommandLine } from "../core/base/hint.ts";
import type { OnRequest } from "../core/testing/ledger/ledger.ts";
import { eventJson, requestJson } from "../core/testing/ledger/request-json.ts";
import { createApp, issuerRoutes } from "../http/app.ts";
import { issuerOfPath } from "../http/not-found.ts";
import { listen, type Listening } from "../http/listen.ts";
import { createRenderer, type Renderer } from "../http/pages/templates/render.ts";
import { unreadRecorder, type OnUnread } from "../http/node-server.ts";
import { version } from "../files/package.ts";
import type { Web } from "../http/web.ts";
import { randomText } from "./random.ts";
import { trustedProxies } from "../net/trusted-proxies.ts";
import { openStores } from "../store/open.ts";
import { StorageError } from "../store/store.ts";
import type { IssuerStores } from "../store/issuer-stores.ts";
import { endRun } from "../core/testing/controls/end-run.ts";
import { admin } from "../core/records/operators/roles.ts";
import type { Issuer } from "./issuer.ts";
import { checkOptions, type IdpOptions } from "./options.ts";
import { createRegistry, type Registry } from "./registry.ts";

/**
 * Starting a server:
 *
 *   options.ts checks the options ─▶ open the stores (their lock) ─▶ listen (requests wait) ─▶ registry.ts opens each issuer (issuer.ts)
 *     ─▶ write the address into the lock ─▶ let the requests in
 *
 * The port comes before the fixtures: the default issuer contains it, and a start that fails because it is taken leaves no data behind.
 */

const defaultHost = "localhost";

/** A server that answers requests. */
export interface Server {
  /** The first issuer. */
  readonly issuer: Issuer;
  readonly issuers: Registry;
  readonly port: number;
  /** Where commands on this machine reach it. */
  readonly localUrl: string;
  /** The Express app, for supertest. */
  readonly app: RequestListener;
  readonly adminToken: string;
  /** Writes commands for an issuer, by its name; null: the first one. */
  readonly commandLine: (issuer: string | null) => CommandLine;
  /** Whether {@link close} was called. */
  readonly isClosing: () => boolean;
  /** Resolves once it is closed, whoever closed it. */
  readonly closed: Promise<void>;
  /** Reads the folder of templates again. @throws {OperationError} invalid */
  readonly reloadPages: () => Promise<void>;
  /** Answers the open requests, writes everything to disk, and leaves nothing open. */
  readonly close: () => Promise<void>;
}

/**
 * Starts a server; it answers requests when this resolves.
 * @param more `controlTokens`: those that count now, beside the admin token; `caFile`: the certificate that clients must trust, for the lock;
 *   `onRequest`: called in place of the one of the options, with what was refused as data
 * @throws {OperationError} usage, conflict (port taken), invalid (fixtures), not_found (the user of `login: auto:`)
 * @throws {LockedError | DataFileError | StorageError} of the data folder
 */
export async function startServer(
  options: IdpOptions,
  {
    controlTokens = () => [],
    caFile,
    onRequest,
  }: {
    readonly controlTokens?: Web["controlTokens"];
    readonly caFile?: string | undefined;
    readonly onRequest?: OnKeptRequest | undefined;
  } = {},
): Promise<Server> {
  checkOptions(options);
  const settings = await checkSettings(options.settings);
  const { now = Date.now, random = randomText, log = () => undefined, host = defaultHost, onProgress } = options;
  const { adminToken = random(24), fixtures, templates } = options;
  const checkPages = async (): Promise<void> => {
    if (templates === undefined) return;
    const { checkTemplates } = await import("../http/pages/templates/check-templates.ts");
    checkTemplates(templates).forEach(log);
  };
  await checkPages();
  const renderer = createRenderer(templates === undefined ? [] : [templates]);
  const reloadPages = async (): Promise<void> => {
    await checkPages();
    renderer.reload();
  };
  const stores = await openStores({
    ...{ data: options.data ?? null, postgres: options.store },
    ...{ kind: "server", version, log },
  });
  const anyHost = options.allowHosts?.includes("*") === true;
  const isShared = options.store !== undefined;
  const owner = { ...admin, token: adminToken };
  const { onToken, commandLine: line = plainCommandLine } = options;
  const commandLine: Server["commandLine"] =
    (issuer) =>
    (words, of = issuer, writing) =>
      line(words, of, writing);
  const issuers = createRegistry(stores, { now, random, log, settings, isShared, anyHost, owner, onToken });
  const onKept = onRequest ?? (options.onRequest && inJson(options.onRequest));
  const tell = (line: CommandLine): OnRequest | undefined =>
    onKept &&
    ((event, read) => {
      onKept(event, read, line);
    });
  let listening: Listening | null = null;
  // In this order, because open requests may wait for passwords, and passwords for the stores.
  const closing = createClosing([
    () => issuers.endWaits(),
    () => listening?.close(),
    () => endRunOfLast(stores, issuers),
    () => issuers.close(),
    () => stores.close(),
  ]);
  try {
    let routesFor =
      (_path: string): RequestHandler =>
      () =>
        undefined;
    const app = createApp((path) => routesFor(path));
    // Which issuer a request is for is in what could not be read.
    let onUnread: OnUnread = () => undefined;
    listening = await listen(app, host, options.port ?? 0, {
      tls: options.tls ?? null,
      onUnread: (...unread) => onUnread(...unread),
    });
    const { port } = listening;
    const scheme = options.tls === undefined ? "http" : "https";
    const issuer = await issuers.start({
      ...{ fixtures, onProgress, alike: options.issuers ?? [] },
      // The instances of a shared store have one issuer.
      address: (last) => options.issuer ?? (isShared ? last : null) ?? `${scheme}://localhost:${port}`,
    });
    const base = pathOf(issuer);
    onUnread = unreadRecorder(issuer.ctx, tell(commandLine(null)));
    const toRoutes = createSites({
      ...options,
      renderer,
      now,
      host,
      port,
      controlTokens: () => [owner, ...controlTokens()],
      ...{ commandLine, tell },
      close: closing.close,
    });
    routesFor = (path) => {
      const name = issuerOfPath(base, path);
      if (name === null || !isShared) return toRoutes(issuers.find(name) ?? issuer);
      // If the database cannot be reached, the first issuer says so. Once it can, it is asked again: "not found" would be wrong.
      const look = issuers.look(name).catch(async () => {
        await catchUp(issuer.ctx)?.catch(() => undefined);
        return issuers.look(name).catch(() => undefined);
      });
      return (req, res, next) => void look.then((found) => toRoutes(found ?? issuer)(req, res, next), next);
    };
    for (const { ctx } of issuers.open()) {
      const note = colorNote(ctx.settings.brand);
      if (note !== null) ctx.log(note);
    }
    const url = localUrl(scheme, host, port) + base;
    stores.updateLock({ url, adminToken, caFile });
    listening.serve();
    issuers.startBackground();
    return { issuer, issuers, port, localUrl: url, app, adminToken, commandLine, reloadPages, ...closing };
  } catch (error) {
    await closing.close().catch((failure: unknown) => {
      log(`after a start that failed: ${String(failure)}`);
    });
    throw error;
  }
}

/**
 * On a shared store, what a tester did to the servers ends with the last of them. Elsewhere it ends with the process. Without the database it stays,
 * for the next start.
 */
async function endRunOfLast({ isLast }: IssuerStores, issuers: Registry): Promise<void> {
  try {
    if ((await isLast?.()) === true) for (const { ctx } of issuers.open()) await endRun(ctx);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
}

/** The path of an issuer, without a trailing slash. */
const pathOf = ({ ctx }: Issuer): string => new URL(ctx.address).pathname.replace(/\/$/, "");

/**
 * The routes of issuers, with the control API of each.
 * @returns gives the routes of an issuer, which are made at its first request
 */
function createSites(
  options: Pick<IdpOptions, "store" | "dynamicRegistration" | "backchannel" | "allowHosts" | "trustedProxies"> &
    Readonly<{
      renderer: Renderer;
      now: () => number;
      host: string;
      port: number;
      controlTokens: Web["controlTokens"];
      commandLine: Server["commandLine"];
      tell: (line: CommandLine) => OnRequest | undefined;
      close: () => Promise<void>;
    }>,
): (issuer: Issuer) => RequestHandler {
  const { renderer, now, host, port, controlTokens, close } = options;
  const shared = {
    renderer,
    controlTokens,
    trustsProxy: trustedProxies(options.trustedProxies ?? []),
    version,
    dynamicRegistration: options.dynamicRegistration ?? false,
    backchannel: options.backchannel ?? "off",
    // A host name that the operator listens on counts as our own.
    allowedHosts: [...(options.allowHosts ?? []), host],
  };
  const server = { pid: process.pid, startedAt: new Date(now()).toISOString(), version };

  function make(issuer: Issuer): RequestHandler {
    const { name, ctx } = issuer;
    const commandLine = options.commandLine(name);
    // Browsers reach all instances of a shared store at the issuer's port, so these instances name their cookies alike.
    const cookiePort = options.store === undefined ? port : portOf(ctx.address);
    const web = { ...shared, commandLine, ctx, name, base: pathOf(issuer), port: cookiePort };
    const onStop = (): void => {
      close().catch((error: unknown) => {
        ctx.log(`stopped, but ${String(error)}`);
      });
    };
    const onUnexpected = (error: unknown): void => ctx.log(`unexpected: ${String(error)}`);
    return issuerRoutes(web, { server, onStop }, { onRequest: options.tell(commandLine), onUnexpected });
  }
  return (issuer) => (issuer.routes ??= make(issuer));
}

/** Is told of a request and its record as the ledger has them, and of what writes commands for its issuer. */
export type OnKeptRequest = (...answered: [...Parameters<OnRequest>, line: CommandLine]) => void;

/** The same, told to a program that uses the library. */
const inJson =
  (onRequest: NonNullable<IdpOptions["onRequest"]>): OnKeptRequest =>
  (event, read, line) => {
    const readJson = () => {
      const request = read();
      return request && requestJson(request, line);
    };
    onRequest(eventJson(event, line), readJson, line);
  };

/** Where commands on this machine reach the server. The issuer may be a name that only other machines resolve. */
function localUrl(scheme: string, host: string, port: number): string {
  if (["localhost", "0.0.0.0", "::"].includes(host.toLowerCase())) return `${scheme}://localhost:${port}`;
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
