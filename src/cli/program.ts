/*
 * cli: reads arguments, chooses the target, calls one operation, prints the result.
 *
 * main.ts is the process, nouns.ts lists the commands, loaders.ts loads them, program.ts has the global flags, run.ts settles them and catches
 * every error, usage/ says what is wrong with the words, target/ finds the server or the data, output/ prints. A command is in the file or folder of its noun in commands/: what it
 * declares, what it does, and what it prints. Only the noun that was typed is loaded, so that each starts fast.
 */
import type { Act } from "./act.ts";
import { loaders } from "./loaders.ts";
import { nouns, type Noun } from "./nouns.ts";
import { Command, Option, type AnyCommand } from "./commander.ts";
import { version } from "../files/package.ts";
import { folder } from "./flags/flag-values.ts";
import { invocationOf, type Invocation, type Terminal } from "./invocation.ts";
import { defaultData, globalFlags } from "./flags/global.ts";
import { asTyped, typedTarget } from "./output/command-line.ts";
import { getStarted, helpConfiguration, moreHelp, wrapped } from "./output/help.ts";
import type { Outcome } from "./output/print.ts";
import { handIssuer } from "./target/issuer-flag.ts";
import { checkStore } from "./target/store-flag.ts";

/** What `program` needs of the process. */
interface ProgramOptions {
  readonly terminal: Terminal;
  readonly clock: Pick<Invocation, "now" | "takeSignals">;
  /** The words after `idp`. */
  readonly words: readonly string[];
  /** Receives the help that is printed because a command is missing. */
  readonly errorHelp: (text: string) => void;
  /** Receives the outcome of the command, or its exit code if it has printed everything itself. */
  readonly finish: (cli: Invocation, outcome: Outcome | number) => void;
}

/** The command line, with the flags and commands of those nouns that were loaded. */
interface Program {
  readonly command: AnyCommand;
  /** Loads a command the first time. An unknown name loads nothing. */
  readonly load: (name: string | undefined) => Promise<void>;
  readonly loadAll: () => Promise<void>;
}

/** How many cells a line of help has where no terminal says so. Texts are written for it. */
const usualWidth = 80;

/** The whole command line; commands are only named. */
export function buildProgram({ terminal, clock, words, errorHelp, finish }: ProgramOptions): Program {
  const program = new Command("idp");
  const { isTTY, columns } = terminal.stdout;
  const helpWidth = isTTY && columns > 0 ? columns : usualWidth;
  const typed = (text: string): string => asTyped(text, terminal);
  const act: Act =
    (run) =>
    async (...received) => {
      const cli = invocationOf(globalFlags(program), terminal, clock, typedTarget(program));
      checkStore(program, cli);
      // commander passes the arguments, the flags, and last the command itself.
      const outcome = await run(cli, ...(received.slice(0, -1) as never));
      if (outcome !== null) finish(cli, outcome);
    };
  program
    .description("The OAuth 2.0 and OpenID Connect identity provider for your own machine and for CI.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand("help [command]", "print help for a command")
    .exitOverride()
    // usage.ts makes them, with the commands of other tools too.
    .showSuggestionAfterError(false)
    // Errors are printed in one place, `run.ts`.
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(wrapped(typed(text), Math.max(helpWidth, usualWidth))),
      writeErr: (text) => {
        errorHelp(asTyped(text, terminal));
      },
      outputError: () => undefined,
      getOutHelpWidth: () => helpWidth,
    })
    .configureHelp(helpConfiguration(words, typed))
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
      ({ command }) =>
        `\n${moreHelp(command, words)}Help for a command: idp help revoke, or idp revoke --help\nDurations are in seconds, or have a unit: 30s, 5m, 2h, 7d\n`,
    )
    .addHelpText("before", getStarted);
  const pending = new Map<string, () => Promise<void>>();
  for (const [group, summaries] of Object.entries(nouns)) {
    program.commandsGroup(group);
    for (const [name, summary] of Object.entries(summaries) as [Noun, string][]) {
      const command = program.command(name).description(summary);
      pending.set(name, async () => {
        (await loaders[name]())(command, { act, program, words, env: terminal.env });
      });
    }
  }
  const load = async (name = ""): Promise<void> => {
    const declare = pending.get(name);
    pending.delete(name);
    await declare?.();
  };
  return {
    command: program,
    load,
    loadAll: async () => {
      for (const name of [...pending.keys()]) await load(name);
    },
  };
}
