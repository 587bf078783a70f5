import { proxyProblem } from "../net/trusted-proxies.ts";
import { OperationError } from "../core/base/errors.ts";
import type { OnToken, Settings } from "../core/context.ts";
import type { FixtureFile } from "../core/admin/fixtures/schema.ts";
import type { FixtureSource } from "../core/base/fixture-files/source.ts";
import type { CommandLine } from "../core/base/hint.ts";
import { checkIssuer, checkIssuerName } from "../core/records/issuers/issuer.ts";
import { isObject } from "../text/json.ts";
import { didYouMean } from "../core/base/nearest.ts";
import type { SeedOptions } from "../core/admin/seed/seed.ts";
import { isAllowable } from "../http/input/host-check.ts";
import type { Tls } from "../http/node-server.ts";
import { problemOfAddress } from "../store/postgres/address.ts";
import type { RequestEvent, RequestRecord } from "../core/testing/ledger/request-json.ts";

/** What a fixture file contains, the path of a file or folder, or the text of a file. */
export type OneFixture = FixtureFile | string | FixtureSource;

type Fixtures = OneFixture | readonly OneFixture[];

export interface IdpOptions {
  /** The data folder. Default: in memory, so nothing is kept. */
  readonly data?: string;
  /**
   * The address of a PostgreSQL database in place of `data`. Any number of instances share its data. The password may also come from
   * PGPASSWORD or ~/.pgpass.
   */
  readonly store?: string;
  /**
   * Applied before the first request is answered: the content of a fixture file, paths of files and folders, the texts of files, or a
   * list of these. Default: the built-in demo. A function is called again at each reset, for files that may have changed.
   */
  readonly fixtures?: Fixtures | (() => Fixtures);
  /** Called with the progress of applying fixtures; both numbers count entries. */
  readonly onProgress?: SeedOptions["progress"];
  /** Default: a free one. */
  readonly port?: number;
  /** Default `localhost`: loopback only, both 127.0.0.1 and ::1. */
  readonly host?: string;
  /** Whether clients may register themselves (RFC 7591). Default: false. */
  readonly dynamicRegistration?: boolean;
  /** A folder whose files (pages, `style.css`, `locales/*.json`) replace the built-in ones, file by file. */
  readonly templates?: string;
  /** PEM texts: https instead of http. */
  readonly tls?: Tls;
  /** `dynamic`: discovery fetched under another of our host names returns the back-channel endpoints under that name. */
  readonly backchannel?: "off" | "dynamic";
  /** Used exactly as given. Default: `http://localhost:<port>`, or with `tls` `https://localhost:<port>`. */
  readonly issuer?: string;
  /** Names of issuers beside the first one that exist from the start, each with these fixtures and its own data. */
  readonly issuers?: readonly string[];
  /**
   * Host names that are answered, besides loopback names, IP addresses and the issuer's host: `name`, `.name` for it and all names below
   * it, or `*` for all. Forms and the control API accept only pages of names listed one by one. With `*` there is no picker.
   */
  readonly allowHosts?: readonly string[];
  /**
   * Networks such as `10.0.0.0/8`: a request from there is counted, for the limits on guessing and registering, by the last address of
   * `X-Forwarded-For` that is not in them. Without it, that header is ignored.
   */
  readonly trustedProxies?: readonly string[];
  /** Settings that override those of the fixtures; times are seconds. */
  readonly settings?: Partial<Settings>;
  /** The token for the control API, with at least 16 characters. Default: a random one. */
  readonly adminToken?: string;
  /** The time in milliseconds since 1970. */
  readonly now?: () => number;
  /** Returns `bytes` random bytes as base64url. */
  readonly random?: (bytes: number) => string;
  /** Writes the commands that the log, pages and errors propose. Default: quoted for a POSIX shell. */
  readonly commandLine?: CommandLine;
  /**
   * Called for each access and ID token before it is issued; returns claims to add. A name that the server sets, or `email`, is refused. If it
   * throws, the response is 500, nothing is issued or changed, and the ledger names it.
   */
  readonly onToken?: OnToken;
  /**
   * Called for each request when it is answered, with what makes its record (null: the ledger does not hold it, such as a call of the control
   * API), and with what writes commands for its issuer.
   */
  readonly onRequest?: (event: RequestEvent, read: () => RequestRecord | null, line: CommandLine) => void;
  /** Called with what an operator may want to know. */
  readonly log?: (note: string) => void;
}

const optionNames = Object.keys({
  data: true,
  store: true,
  fixtures: true,
  onProgress: true,
  port: true,
  host: true,
  dynamicRegistration: true,
  templates: true,
  tls: true,
  backchannel: true,
  issuer: true,
  issuers: true,
  allowHosts: true,
  trustedProxies: true,
  settings: true,
  adminToken: true,
  now: true,
  random: true,
  commandLine: true,
  onToken: true,
  onRequest: true,
  log: true,
} satisfies Record<keyof IdpOptions, true>);

/** Checks the options, because programs in JavaScript have no compiler. @throws {OperationError} usage */
export function checkOptions(options: IdpOptions): void {
  if (!isObject(options)) throw new OperationError("usage", "createIdp takes an object of options");
  const unknown = Object.entries(options).find(([name, value]) => value !== undefined && !optionNames.includes(name));
  if (unknown !== undefined) {
    const [name] = unknown;
    throw new OperationError("usage", `createIdp has no option "${name}"`, {
      hint: didYouMean(name, optionNames, `It has: ${optionNames.join(", ")}`),
    });
  }
  const { port = 0, backchannel = "off", adminToken, store, data }: IdpOptions = options;
  const { issuer, issuers = [], allowHosts = [], trustedProxies = [] }: IdpOptions = options;
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
  const { onToken, now }: IdpOptions = options;
  if (onToken !== undefined && typeof onToken !== "function") {
    throw new OperationError("usage", "onToken must be a function that returns claims", {
      hint: 'For example: createIdp({ onToken: ({ user }) => ({ tenant: user === "alice" ? "acme" : "other" }) })',
    });
  }
  for (const name of ["now", "random", "commandLine", "onProgress", "onRequest", "log"] as const) {
    const given: unknown = options[name];
    if (given !== undefined && typeof given !== "function")
      throw new OperationError("usage", `${name} must be a function, not ${JSON.stringify(given)}`);
  }
  if (now !== undefined && Number.isNaN(new Date(now()).getTime()))
    throw new OperationError("usage", "now must return milliseconds since 1970, such as Date.now()");
  if (adminToken !== undefined) checkAdminToken(adminToken);
  if (store !== undefined) checkStore(store, data);
  if (issuer !== undefined) checkIssuer(issuer);
  for (const name of issuers) checkIssuerName(name);
  for (const given of allowHosts) checkAllowedHost(given);
  for (const given of trustedProxies) {
    const problem = proxyProblem(given);
    if (problem !== null)
      throw new OperationError("usage", `trusted proxy ${problem}`, {
        hint: { text: "For example", command: ["idp", "start", "--trusted-proxy", "10.0.0.0/8"] },
      });
  }
}

/** @throws {OperationError} usage */
function checkStore(store: string, data: string | undefined): void {
  const problem = problemOfAddress(store);
  if (problem !== null) throw new OperationError("usage", `store ${problem}`);
  if (data !== undefined) {
    throw new OperationError("usage", "store and data name two places for the data", { hint: "Leave one of them out" });
  }
}

/** @throws {OperationError} usage for a value that no `Host` can match */
function checkAllowedHost(given: string): void {
  if (isAllowable(given)) return;
  throw new OperationError("usage", `--allow-host ${JSON.stringify(given)} can never match: it is not a host name`, {
    hint: "Use a name without scheme, port and path, .example.test for it and all names below it, or * for all names. Repeat the flag for more names",
  });
}

function checkAdminToken(token: string): void {
  if (token.length < 16) {
    throw new OperationError("usage", `the admin token has ${token.length} characters; it needs at least 16`, {
      hint: { text: "Make one", command: ["openssl", "rand", "-hex", "16"] },
    });
  }
  // The characters of a token in an Authorization header (RFC 6750 2.1).
  if (!/^[\w.~+/-]+=*$/.test(token)) {
    throw new OperationError("usage", "the admin token has a character that an Authorization header cannot carry", {
      hint: {
        text: "Use letters, digits and - . _ ~ + / only. To make one",
        command: ["openssl", "rand", "-hex", "16"],
      },
    });
  }
}
