import type { GlobalFlags } from "./flags/global.ts";
import { belowUrl, namedIssuer } from "./target/issuer-flag.ts";
import { problemOfAddress, withoutPassword } from "../store/postgres/address.ts";
import { styleOf, type Style } from "./output/style.ts";

/** The streams and the environment of the process. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: NodeJS.ProcessEnv;
}

/** How a command was called: what the global flags, the terminal and the environment come to. */
export interface Invocation extends Terminal {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly yes: boolean;
  /** Whether a person can be asked: there is a terminal, and neither `--json`, `--no-input` nor CI. */
  readonly interactive: boolean;
  /** Whether something may move on stderr while the command works. */
  readonly animated: boolean;
  /** The styles of stdout and stderr. */
  readonly out: Style;
  readonly err: Style;
  /** How many cells a line on stdout has; Infinity if it is not a terminal. */
  readonly width: number;
  readonly data: string;
  /** The address of a shared store in place of the data folder, with its password; null without one. */
  readonly store: string | null;
  /** Where the data is, for messages: the folder, or the address of the store without its password. */
  readonly place: string;
  /** The server to call; null for the one that holds the data folder, or the folder itself. */
  readonly url: string | null;
  readonly adminTokenFile: string | null;
  /** The name of the issuer to work on; null for the first one, or the one at `url`. */
  readonly issuer: string | null;
  /** The flags that named the data or the server, for hints: `["--data", ".idp-2"]`. */
  readonly target: readonly string[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Lets a command handle SIGINT, SIGTERM and SIGHUP. Until it is called, they end the process with 128 and their number. */
  readonly takeSignals: (handle: (signal: NodeJS.Signals) => void) => void;
}

/** Whether a variable of the environment is on: set, and neither empty, "0" nor "false". */
const isSet = (value: string | undefined): boolean => !["", "0", "false"].includes(value ?? "");

/** How many cells a line has; Infinity without a terminal, or if the terminal does not know (in a container it says 0). */
export const widthOf = ({ isTTY, columns }: Pick<NodeJS.WriteStream, "isTTY" | "columns">): number =>
  isTTY && columns > 0 ? columns : Infinity;

/** @param target the flags that named the data or the server */
export function invocationOf(
  flags: GlobalFlags,
  terminal: Terminal,
  clock: Pick<Invocation, "now" | "takeSignals">,
  target: readonly string[] = [],
): Invocation {
  const { stdout, stderr, env } = terminal;
  const json = flags.json === true;
  const store = flags.store !== undefined && problemOfAddress(flags.store) === null ? flags.store : null;
  const issuer = namedIssuer(flags.issuer, env);
  return {
    ...clock,
    stdout,
    stderr,
    env,
    // Opened only when it is used: most commands read nothing, and opening it takes a while.
    get stdin() {
      return terminal.stdin;
    },
    json,
    quiet: flags.quiet === true,
    yes: flags.yes === true,
    animated: stderr.isTTY && !json && flags.quiet !== true && !isSet(env.CI),
    // Questions go to stderr, so that `$(idp …)` can still ask.
    get interactive() {
      return stderr.isTTY && !json && flags.input && !isSet(env.CI) && terminal.stdin.isTTY;
    },
    out: styleOf(stdout, flags.color, env),
    err: styleOf(stderr, flags.color, env),
    width: widthOf(stdout),
    data: flags.data,
    store,
    place: store === null ? flags.data : withoutPassword(store),
    url: flags.url === undefined ? null : belowUrl(flags.url, issuer),
    adminTokenFile: flags.adminTokenFile ?? null,
    issuer,
    target,
  };
}
