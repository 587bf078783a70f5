/*
 * cli/program: which commands and flags there are, in words. What a command does is imported when it runs, so that each starts fast.
 */
import { Command, Option } from "commander";
import type { Act } from "./act.ts";
import { typedTarget } from "./output/command-line.ts";
import { defaultData, invocationOf, type GlobalFlags, type Invocation, type Terminal } from "./invocation.ts";
import type { Outcome } from "./output/print.ts";
import { checkStore } from "./target/store-flag.ts";
import { folder } from "./flags/flag-values.ts";
import { declareApps } from "./program/apps.ts";
import { declareCheck } from "./program/check.ts";
import { declareIssuers } from "./program/issuers.ts";
import { handIssuer } from "./target/issuer-flag.ts";
import { declareFaults } from "./program/faults.ts";
import { declareKeysAndSessions } from "./program/keys.ts";
import { declareLogin } from "./program/login.ts";
import { declareRecords } from "./program/records.ts";
import { declareRequests } from "./program/requests.ts";
import { declareScim } from "./program/users.ts";
import { declareServer } from "./program/server.ts";
import { declareTokens } from "./program/tokens.ts";
import { declareTime } from "./program/time.ts";
import { declareTools } from "./program/tools.ts";
import { version } from "../files/package.ts";

/** What `program` needs of the process. */
export interface ProgramOptions {
  readonly terminal: Terminal;
  readonly clock: Pick<Invocation, "now" | "takeSignals">;
  /** The words after `idp`. */
  readonly words: readonly string[];
  /** Receives the help that is printed because a command is missing. */
  readonly errorHelp: (text: string) => void;
  /** Receives the outcome of the command, or its exit code if it has printed everything itself. */
  readonly finish: (cli: Invocation, outcome: Outcome | number) => void;
}

/** The whole command line. */
export function buildProgram({ terminal, clock, words, errorHelp, finish }: ProgramOptions): Command {
  const program = new Command("idp");
  const act: Act =
    (run) =>
    async (...received) => {
      const cli = invocationOf(program.opts<GlobalFlags>(), terminal, clock, typedTarget(program));
      checkStore(program, cli);
      // commander passes the arguments, the flags, and last the command itself.
      const outcome = await run(cli, ...(received.slice(0, -1) as never[]));
      if (outcome !== null) finish(cli, outcome);
    };
  program
    .description("The OAuth 2.0 and OpenID Connect identity provider for your own machine and for CI.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .exitOverride()
    // Errors are printed in one place, `run.ts`.
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: errorHelp,
      outputError: () => undefined,
      getOutHelpWidth: () => (terminal.stdout.isTTY ? terminal.stdout.columns : 80),
    })
    .configureHelp({ sortSubcommands: false })
    .optionsGroup("Global flags, before or after the command:")
    .option("--json", "print one JSON document, and errors as JSON on stderr; never prompt")
    .option("--quiet", "print only the result and errors")
    .option("--verbose", "also print the cause of an error")
    .option("--no-input", "never prompt for missing values")
    .option("--yes", "answer yes to every confirmation")
    .addOption(new Option("--color <when>", "color the output").choices(["auto", "always", "never"]).default("auto"))
    .addOption(new Option("--data <dir>", "the data folder").env("IDP_DATA").default(defaultData).argParser(folder))
    .addOption(new Option("--store <url>", "a shared store on PostgreSQL in place of the data folder").env("IDP_STORE"))
    .addOption(new Option("--url <url>", "use the server at this address, not the data folder").env("IDP_URL"))
    .option("--admin-token-file <file>", "read the admin token for --url from this file (default: IDP_ADMIN_TOKEN)")
    .option("--issuer <issuer>", "work on the issuer of this name, made by idp issuers add (default: the first one)")
    .hook("preAction", (_program, command) => {
      handIssuer(program, command, terminal.env);
    })
    .addHelpText(
      "after",
      "\nGet started: idp start\nHelp for a command: idp help revoke, or idp revoke --help\nDurations are in seconds, or have a unit: 30s, 5m, 2h, 7d\n",
    );
  declareServer(program, act, { words, env: terminal.env });
  declareApps(program, act, words);
  declareRecords(program, act);
  declareScim(program, act);
  declareIssuers(program, act);
  declareKeysAndSessions(program, act);
  declareTokens(program, act);
  declareTime(program, act);
  declareFaults(program, act);
  declareRequests(program, act);
  declareCheck(program, act, { words, env: terminal.env });
  declareLogin(program, act);
  declareTools(program, act);
  return program;
}
