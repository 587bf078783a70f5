import { InvalidArgumentError, Option, type Command } from "commander";
import { examples, type Act } from "../act.ts";
import { collect, seconds, wholeNumber } from "../flags/flag-values.ts";
import { fixturesOption, withSettings } from "../flags/settings.ts";
import { takeVariables } from "../flags/variables.ts";
import type { DiffFlags } from "../commands/diff.ts";
import type { ExportFlags } from "../commands/export.ts";
import type { ResetFlags } from "../commands/reset.ts";
import type { SeedFlags } from "../commands/seed.ts";
import type { StartFlags } from "../commands/start/start.ts";
import type { WaitFlags } from "../commands/wait.ts";

/** The commands on a server and its data. */

function port(value: string): number {
  if (value === "auto") return 0;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535)
    throw new InvalidArgumentError("It must be a number from 0 to 65535, or auto.");
  return number;
}

/** What `start` needs of the process: the words after `idp`, and the environment. */
interface Typed {
  readonly words: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

function declareStart(program: Command, act: Act, { words, env }: Typed): void {
  const start = program
    .command("start")
    .description("run the server")
    .option("--port <port>", "a port, or auto for a free one (default: 4370)", port)
    .option("--host <host>", "the address to listen on (default: localhost, both 127.0.0.1 and ::1)")
    .option("--issuer <url>", "the issuer, used exactly as given (default: http://localhost:<port>)")
    .option(...fixturesOption)
    .option(
      "--issuers <count>",
      "also serve issuers w1 to w<count>, each with its own data and these fixtures",
      wholeNumber,
    )
    .option("--watch", "apply fixtures again when they change (default on a terminal)")
    .option("--no-watch", "read fixtures at the start only")
    .option("--memory", "keep everything in memory, nothing on disk")
    .option(
      "--allow-host <host>",
      "also answer under this host name; .name: all names below it too; *: any; repeatable",
      collect,
    )
    .option(
      "--trusted-proxy <cidr>",
      "limits count requests from this network by their X-Forwarded-For; repeatable",
      collect,
    )
    .option("--https", "serve https without any files, with a certificate of its own")
    .option("--cert <file>", "serve https with this PEM certificate; needs --key")
    .option("--key <file>", "the PEM private key of --cert")
    .addOption(
      new Option(
        "--backchannel <how>",
        "dynamic: discovery under another host name gives the back-channel endpoints under that name",
      ).choices(["off", "dynamic"]),
    )
    .option("--dynamic-registration", "let clients register themselves (RFC 7591)")
    .option("--templates <dir>", "a folder with your own pages, texts and stylesheet; what it lacks is built in")
    .option("--open", "open the start page in a browser")
    .option("--ready-file <file>", "a JSON file that exists while the server is ready")
    .option(
      "--control-tokens <file>",
      "tokens of the control API for a team, each with a role: a list of { name, role, token }",
    )
    .option("--until-stdin-closes", "stop when standard input closes, so that no server outlives a killed test");
  withSettings(start)
    .hook("preAction", (command) => {
      takeVariables(command, env);
    })
    .addHelpText(
      "after",
      `\nVariables for the flags: IDP_PORT=4400 IDP_MEMORY=true IDP_ALLOW_HOST=a.test\n${examples("idp start", "idp start --port auto --memory --fixtures test/fixtures.yaml", "idp export --as fixtures | idp start --memory --port auto --fixtures -")}`,
    )
    .action(act(async (cli, flags: StartFlags) => (await import("../commands/start/start.ts")).start(cli, flags, words)));
}

/** Adds these commands to the program. */
export function declareServer(program: Command, act: Act, typed: Typed): void {
  program.commandsGroup("Server and data:");
  declareStart(program, act, typed);
  program
    .command("status")
    .description("show whether a server is running; exit 5 if none is")
    .addHelpText("after", examples("idp status", "idp status --json"))
    .action(act(async (cli) => (await import("../commands/status.ts")).status(cli)));
  program
    .command("stop")
    .description("stop the server and wait for it to end; exit 5 if none is running")
    .addHelpText("after", examples("idp stop", "idp stop --data .idp-other"))
    .action(act(async (cli) => (await import("../commands/stop.ts")).stop(cli)));
  program
    .command("wait")
    .description("wait until a server runs on the data folder, or answers at --url; exit 5 if none does in time")
    .addOption(new Option("--timeout <seconds>", "how long to wait; 0: check once").argParser(seconds(0)).default(30))
    .addHelpText("after", examples("idp wait", "idp wait --timeout 5 --url http://localhost:4370"))
    .action(act(async (cli, flags: WaitFlags) => (await import("../commands/wait.ts")).wait(cli, flags)));
  program
    .command("issuer")
    .description("change the issuer of a running server")
    .command("set")
    .description("change the scheme, host and port until the server stops; tokens become invalid, sessions are kept")
    .argument("<url>", "the issuer, as in start --issuer; the path cannot change")
    .addHelpText(
      "after",
      examples(
        "idp issuer set http://localhost:32768",
        "idp issuer set https://idp.example.test --url http://localhost:4370",
      ),
    )
    .action(act(async (cli, issuer: string) => (await import("../commands/issuer.ts")).setIssuer(cli, issuer)));
  program
    .command("seed")
    .description("apply fixture files: create missing records, update changed ones")
    .argument(
      "[path...]",
      "files or folders, or - for stdin (default: idp.fixtures.json, .yaml or .yml here, or those of the server)",
    )
    .option("--check", "check the files without applying them; exit 7 if there are problems")
    .option(
      "--fields",
      "print every field of fixture files with type, default and example, or of a section: users, settings, …",
    )
    .option("--print-schema", "print the JSON Schema of fixture files")
    .addHelpText("after", examples("idp seed", "idp seed --check fixtures/", "idp seed --fields settings"))
    .action(
      act(async (cli, paths: string[], flags: SeedFlags) => (await import("../commands/seed.ts")).seed(cli, paths, flags)),
    );
  program
    .command("diff")
    .description("compare the data with the fixtures; exit 6 if anything differs")
    .argument("[path...]", "files or folders, or - for stdin (default: the fixtures of the server, or those of start)")
    .addOption(new Option("--as <form>", "fixtures: print what to write into the fixture file").choices(["fixtures"]))
    .addHelpText("after", examples("idp diff", "idp diff fixtures/ --json", "idp diff --as fixtures"))
    .action(
      act(async (cli, paths: string[], flags: DiffFlags) => (await import("../commands/diff.ts")).diff(cli, paths, flags)),
    );
  program
    .command("export")
    .description("export all data as one JSON document, including secrets")
    .option(
      "-o, --output <file>",
      "write to this file, readable only by you; fixtures in YAML if it ends in .yaml or .yml (default: stdout, JSON)",
    )
    .addOption(
      new Option(
        "--as <form>",
        "fixtures: a fixture file, without passwords, keys, and clients that registered themselves",
      ).choices(["state", "fixtures"]),
    )
    .option("--show-secrets", "with --as fixtures: the secrets of one-time codes and the tokens of SCIM servers too")
    .addHelpText(
      "after",
      examples("idp export --output state.json", "idp export --as fixtures --output idp.fixtures.yaml"),
    )
    .action(act(async (cli, flags: ExportFlags) => (await import("../commands/export.ts")).exportState(cli, flags)));
  program
    .command("import")
    .description("replace all data with an export")
    .argument("<file>", "a file from idp export, or - for stdin")
    .addHelpText("after", examples("idp import state.json", "idp export --data .idp-old | idp import -"))
    .action(act(async (cli, file: string) => (await import("../commands/import.ts")).importState(cli, file)));
  program
    .command("reset")
    .description("go back to the fixtures: discard changes, sessions, grants and tokens")
    .option("--fixtures <path>", "go back to these fixtures instead of those in use; repeatable", collect)
    .option("--keys", "also replace the signing keys")
    .addHelpText("after", examples("idp reset", "idp reset --yes --keys"))
    .action(act(async (cli, flags: ResetFlags) => (await import("../commands/reset.ts")).reset(cli, flags)));
}
