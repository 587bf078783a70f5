import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import type { ClientView } from "../core/clients-admin.ts";
import type { Settings } from "../core/context.ts";
import { OperationError } from "../core/errors.ts";
import type { FixtureFile } from "../core/fixtures/schema.ts";
import type { RequestEvent } from "../http/request-log.ts";
import { createIdp, type Idp, type IdpOptions } from "../index.ts";
import { escapeDeep, printableJson } from "./escape.ts";
import { findFixtures, type FoundFixtures } from "../fixture-files.ts";
import { fewRows, firstScreen, type Screen, type ScreenClient } from "./first-screen.ts";
import type { Invocation } from "./invocation.ts";
import { say } from "./print.ts";
import { showProgress, type Progress } from "./progress.ts";
import { requestLines } from "./request-log.ts";
import { seedSummary } from "./seed-summary.ts";
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
  readonly accessTokenAlg?: Settings["access_token_alg"];
  readonly cert?: string;
  readonly key?: string;
  readonly backchannel?: "off" | "dynamic";
  readonly dynamicRegistration?: true;
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
    access_token_alg: flags.accessTokenAlg,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The fixtures that `--fixtures` or IDP_FIXTURES name (several with the separator of PATH between them), else those of the working folder, else the demo. */
function fixturesOf(cli: Invocation, flags: StartFlags): FoundFixtures {
  const named = flags.fixtures ?? cli.env.IDP_FIXTURES?.split(delimiter) ?? [];
  return findFixtures(named, process.cwd());
}

/** `--cert` and `--key`, which mean nothing without each other. */
function tlsOf({ cert, key }: StartFlags): Pick<IdpOptions, "tls"> {
  if (cert === undefined && key === undefined) return {};
  if (cert === undefined || key === undefined) {
    const [given, missing] = cert === undefined ? ["key", "cert"] : ["cert", "key"];
    throw new OperationError("usage", `--${given} needs --${missing} too`, {
      hint: "idp start --cert localhost.pem --key localhost-key.pem",
    });
  }
  return { tls: { cert: readPem("cert", cert), key: readPem("key", key) } };
}

function readPem(flag: string, file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new OperationError("usage", `--${flag} ${file} cannot be read`, { hint: "It is a PEM file", cause: error });
  }
}

function optionsOf(cli: Invocation, flags: StartFlags, fixtures: FoundFixtures, progress: Progress): IdpOptions {
  const { port, host, issuer, allowHost } = flags;
  const adminToken = cli.env.IDP_ADMIN_TOKEN;
  return {
    ...(flags.memory === true ? {} : { data: cli.data }),
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(allowHost === undefined ? {} : { allowHosts: allowHost }),
    ...(adminToken === undefined ? {} : { adminToken }),
    ...tlsOf(flags),
    ...(flags.backchannel === undefined ? {} : { backchannel: flags.backchannel }),
    ...(flags.dynamicRegistration === undefined ? {} : { dynamicRegistration: true }),
    fixtures: fixtures.sources,
    onProgress: progress.update,
    settings: settingsOf(flags),
    onRequest: (event) => logRequest(cli, event),
    log: (note) => say(cli, note),
  };
}

/** One line of JSON a request, or lines for a person; with `--quiet` none. */
function logRequest(cli: Invocation, event: RequestEvent): void {
  if (cli.json) cli.stdout.write(`${printableJson({ event: "request", ...event }, 0)}\n`);
  else if (!cli.quiet) cli.stdout.write(`${requestLines(event, cli.out, cli.width)}\n`);
}

/** `idp start`: runs until SIGINT, SIGTERM or `idp stop`; then the open requests are answered and all is on disk. */
export async function start(cli: Invocation, flags: StartFlags): Promise<null> {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  // From the first moment on: a signal while it starts must end it as well. A second one changes nothing.
  cli.takeSignals(() => {
    stop();
  });
  const fixtures = fixturesOf(cli, flags);
  const progress = showProgress(cli, "Loading fixtures");
  const idp = await createIdp(optionsOf(cli, flags, fixtures, progress)).finally(progress.end);
  try {
    await announce(cli, flags, idp, fixtures);
    await Promise.race([stopped, idp.closed]);
  } finally {
    await idp.close();
  }
  return null;
}

async function announce(cli: Invocation, flags: StartFlags, idp: Idp, fixtures: FoundFixtures): Promise<void> {
  const { issuer, port } = idp;
  const inMemory = flags.memory === true;
  const data = inMemory ? null : resolve(cli.data, "data.json");
  const ready = { event: "ready", issuer, port, pid: process.pid, data, version: version() };
  if (flags.readyFile !== undefined) writeReadyFile(flags.readyFile, ready);
  if (cli.json) cli.stdout.write(`${printableJson(ready, 0)}\n`);
  else {
    if (!cli.quiet)
      cli.stdout.write(`${firstScreen(escapeDeep(await screenOf(cli, flags, idp, fixtures)), cli.out)}\n`);
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

async function screenOf(cli: Invocation, flags: StartFlags, idp: Idp, fixtures: FoundFixtures): Promise<Screen> {
  const users = await idp.call("users.list", { limit: fewRows });
  const { users: allUsers } = await idp.call("status", {});
  const clients = await idp.call("clients.list", { secrets: true });
  const demo = demoOf(fixtures);
  return {
    version: version(),
    took: performance.now(),
    issuer: idp.issuer,
    users: {
      first: users.map(({ username, email, status }) => {
        return { username, email, status, password: demo.passwords.get(username) ?? null };
      }),
      all: allUsers,
    },
    clients: {
      first: clients.slice(0, fewRows).map((client) => screenClient(client, demo.secrets.get(client.client_id))),
      all: clients.length,
    },
    data: flags.memory === true ? "in memory: nothing is kept" : `${join(cli.data, "data.json")}, kept between runs`,
    fixtures: [
      fixtures.names.join(", ") || "built-in demo; for your own: idp.fixtures.yaml here, or --fixtures",
      ...(idp.seeded === null ? [] : [seedSummary(idp.seeded)]),
    ],
  };
}

/** What of the built-in demo everybody knows: passwords by username, secrets by client id. Of other fixtures nothing is told. */
function demoOf({ sources }: FoundFixtures): {
  readonly passwords: ReadonlyMap<string, string>;
  readonly secrets: ReadonlyMap<string, string>;
} {
  const demos = sources.flatMap((source) => ("value" in source ? [source.value as FixtureFile] : []));
  const known = (entries: readonly (readonly [string, string | undefined])[]): ReadonlyMap<string, string> =>
    new Map(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
  return {
    passwords: known(demos.flatMap(({ users = [] }) => users.map((user) => [user.username, user.password] as const))),
    secrets: known(
      demos.flatMap(({ clients = [] }) => clients.map((client) => [client.client_id, client.client_secret] as const)),
    ),
  };
}

/** @param known the secret that everybody knows; shown where it is still the client's */
const screenClient = (client: ClientView, known: string | undefined): ScreenClient => ({
  id: client.client_id,
  isPublic: client.public,
  secret: known !== undefined && client.client_secret === known ? known : null,
  redirectUris: client.redirect_uris,
  grantTypes: Array.isArray(client.grant_types) ? client.grant_types.map(String) : [],
});
