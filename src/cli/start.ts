import { renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { ClientView } from "../core/clients-admin.ts";
import type { Settings } from "../core/context.ts";
import { OperationError } from "../core/errors.ts";
import type { RequestEvent } from "../http/request-log.ts";
import { createIdp, type Idp, type IdpOptions } from "../index.ts";
import { escapeDeep, printableJson } from "./escape.ts";
import { fewRows, firstScreen, type Screen, type ScreenClient } from "./first-screen.ts";
import type { Invocation } from "./invocation.ts";
import { say } from "./print.ts";
import { requestLines } from "./request-log.ts";
import { version } from "./version.ts";

/** The flags of `idp start`, as commander reads them. */
export interface StartFlags {
  /** 0: a free one. */
  readonly port?: number;
  readonly host?: string;
  readonly issuer?: string;
  readonly fixtures?: readonly string[];
  readonly memory?: true;
  readonly allowHost?: readonly string[];
  readonly open?: true;
  readonly readyFile?: string;
  readonly login?: string;
  readonly consent?: Settings["consent"];
  readonly codeTtl?: number;
  readonly accessTokenTtl?: number;
  readonly refreshTokenTtl?: number;
  readonly sessionTtl?: number;
  readonly refreshRotation?: Settings["refresh_rotation"];
  readonly refreshGrace?: number;
}

/** The flags that are settings, under the names of fixtures. */
function settingsOf(flags: StartFlags): Partial<Settings> {
  const given: Partial<{ -readonly [K in keyof Settings]: Settings[K] | undefined }> = {
    login: flags.login,
    consent: flags.consent,
    code_ttl: flags.codeTtl,
    access_token_ttl: flags.accessTokenTtl,
    refresh_token_ttl: flags.refreshTokenTtl,
    session_ttl: flags.sessionTtl,
    refresh_rotation: flags.refreshRotation,
    refresh_grace: flags.refreshGrace,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function optionsOf(cli: Invocation, flags: StartFlags): IdpOptions {
  const { port, host, issuer, allowHost } = flags;
  const adminToken = cli.env.IDP_ADMIN_TOKEN;
  return {
    ...(flags.memory === true ? {} : { data: cli.data }),
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(allowHost === undefined ? {} : { allowHosts: allowHost }),
    ...(adminToken === undefined ? {} : { adminToken }),
    settings: settingsOf(flags),
    onRequest: (event) => logRequest(cli, event),
    log: (note) => say(cli, note),
  };
}

/** One line of JSON a request, or lines for a person; with `--quiet` none. */
function logRequest(cli: Invocation, event: RequestEvent): void {
  if (cli.json) cli.stdout.write(`${printableJson({ event: "request", ...event }, 0)}\n`);
  else if (!cli.quiet) cli.stdout.write(`${requestLines(event, cli.out)}\n`);
}

/** `idp start`: runs until SIGINT, SIGTERM or `idp stop`; then the open requests are answered and all is on disk. */
export async function start(cli: Invocation, flags: StartFlags): Promise<null> {
  const began = cli.now();
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  // From the first moment on: a signal while it starts must end it as well. A second one changes nothing.
  cli.takeSignals(() => {
    stop();
  });
  const idp = await createIdp(optionsOf(cli, flags));
  try {
    await announce(cli, flags, idp, began);
    await Promise.race([stopped, idp.closed]);
  } finally {
    await idp.close();
  }
  return null;
}

async function announce(cli: Invocation, flags: StartFlags, idp: Idp, began: number): Promise<void> {
  const { issuer, port } = idp;
  const inMemory = flags.memory === true;
  const data = inMemory ? null : resolve(cli.data, "data.json");
  const ready = { event: "ready", issuer, port, pid: process.pid, data, version: version() };
  if (flags.readyFile !== undefined) writeReadyFile(flags.readyFile, ready);
  if (cli.json) cli.stdout.write(`${printableJson(ready, 0)}\n`);
  else {
    if (!cli.quiet)
      cli.stdout.write(`${firstScreen(escapeDeep(await screenOf(cli, flags, idp, cli.now() - began)), cli.out)}\n`);
    // What a script waits for.
    if (!cli.stdout.isTTY) cli.stdout.write(`idp ready ${issuer} pid ${process.pid}\n`);
  }
  if (flags.open === true) await openBrowser(cli, `${issuer}/account`);
}

/** Whole or not at all: whoever waits for the file reads it the moment it is there. */
function writeReadyFile(file: string, ready: object): void {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(temporary, `${JSON.stringify(ready)}\n`);
    renameSync(temporary, file);
  } catch (error) {
    throw new OperationError("usage", `--ready-file ${file} cannot be written`, { cause: error });
  }
}

async function openBrowser(cli: Invocation, url: string): Promise<void> {
  const instead = (): void => say(cli, `No browser could be opened. Open it yourself: ${url}`);
  try {
    const { default: open } = await import("open");
    (await open(url)).once("error", instead);
  } catch {
    instead();
  }
}

async function screenOf(cli: Invocation, flags: StartFlags, idp: Idp, took: number): Promise<Screen> {
  const users = await idp.call("users.list", {});
  const clients = await idp.call("clients.list", { secrets: true });
  const isDemo = true;
  return {
    version: version(),
    took,
    issuer: idp.issuer,
    users: {
      first: users
        .slice(0, fewRows)
        .map(({ username, email, status }) => ({ username, email, status, password: null })),
      all: users.length,
    },
    clients: {
      first: clients.slice(0, fewRows).map((client) => screenClient(client, isDemo)),
      all: clients.length,
    },
    data: flags.memory === true ? "in memory: nothing is kept" : `${join(cli.data, "data.json")}, kept between runs`,
    fixtures: [],
  };
}

const screenClient = (client: ClientView, showsSecret: boolean): ScreenClient => ({
  id: client.client_id,
  isPublic: client.public,
  secret: showsSecret && typeof client.client_secret === "string" ? client.client_secret : null,
  redirectUris: client.redirect_uris,
  grantTypes: Array.isArray(client.grant_types) ? client.grant_types.map(String) : [],
});
