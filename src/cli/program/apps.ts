import { Option, type Command } from "commander";
import { examples, type Act } from "../act.ts";
import { variableName, variablePrefix } from "../commands/env/app-variables.ts";
import { appTypes } from "../commands/init/app-types.ts";
import type { EnvFlags } from "../commands/env/env.ts";
import { formats, libraries } from "../commands/env/choices.ts";
import type { ExecFlags } from "../commands/exec/exec.ts";
import { toolNames } from "../../migrate/tool-names.ts";
import { workloadKinds } from "../../core/workloads/kinds.ts";
import { withFlaws } from "../commands/token/flaws.ts";
import { appPort, collect, once, seconds } from "../flags/flag-values.ts";
import type { InitFlags } from "../commands/init/flags.ts";
import { setClaim } from "../flags/set-field.ts";
import { fixturesOption, withSettings } from "../flags/settings.ts";

/** The commands that connect an app: init, env, exec. */

/** Adds the flags that name the app's client and its variables. */
export const withVariables = (command: Command): Command =>
  command
    .option("--client <client_id>", "the app's client (default: the first that signs users in)")
    .option("--prefix <prefix>", "prefix of each name, as in VITE_OIDC_ISSUER", variablePrefix)
    .option(
      "--name <value=NAME>",
      "another name for issuer, client_id, client_secret or redirect_uri; repeatable",
      variableName,
    );

function declareInit(program: Command, act: Act): void {
  program
    .command("init")
    .description(
      "connect an app: write its fixtures and .env.local, and write or print the code that signs users in; asks for what is missing",
    )
    .addOption(
      new Option(
        "--type <type>",
        "public: an app in the browser; confidential: one that a server renders; service: an API or worker; cli: a command line or device",
      ).choices(appTypes),
    )
    .addOption(
      new Option("--for <library>", "the library that signs users in (default: found in the project)").choices(
        libraries,
      ),
    )
    .argument("[file...]", "with --from: the files to convert")
    .addOption(
      new Option("--from <tool>", "convert another tool's file, and list what could not be converted").choices(
        toolNames,
      ),
    )
    .option("--client <client_id>", "the app's client_id (default: the name in package.json)")
    .option("--redirect-uri <uri>", "a redirect URI of the app; repeatable", collect)
    .option("--port <port>", "the port that the app listens on (default: its framework's)", appPort)
    .option("--user <username>", "a user; the password is the username; repeatable (default: alice, bob)", collect)
    .option("--force", "replace an existing idp.fixtures.yaml")
    .option("--stdout", "print the file and write nothing")
    .addHelpText(
      "after",
      examples(
        "idp init",
        "idp init --yes --for next-auth",
        "idp init --no-input --type public --redirect-uri http://localhost:5173/callback",
        "idp init --no-input --type confidential --client shop --user erin --user frank",
        "idp init --yes --port 5401",
        "idp init --from keycloak realm-export.json",
      ),
    )
    .action(
      act(async (cli, files: string[], flags: InitFlags) => (await import("../commands/init/init.ts")).init(cli, files, flags)),
    );
}

function declareEnv(program: Command, act: Act): void {
  withVariables(program.command("env").description("print the settings that the app needs, including its secret"))
    .addOption(new Option("--format <format>", "the output format (default: dotenv)").choices(formats))
    .option("--write <file>", 'write to a file; only the lines between "# idp begin" and "# idp end" change')
    .addOption(new Option("--for <library>", "print the configuration of a library instead").choices(libraries))
    .addHelpText(
      "after",
      examples(
        "idp env --write .env.local",
        "idp env --client demo-spa --prefix VITE_ --name issuer=VITE_OIDC_AUTHORITY",
        'eval "$(idp env --format shell)"',
        'idp env --format github >> "$GITHUB_ENV"',
        "idp env --for spring",
      ),
    )
    .action(act(async (cli, flags: EnvFlags) => (await import("../commands/env/env.ts")).env(cli, flags)));
}

/** Adds these commands to the program. @param words what was typed; the command of the child is after -- */
export function declareApps(program: Command, act: Act, words: readonly string[]): void {
  program.commandsGroup("Your app:");
  declareInit(program, act);
  declareEnv(program, act);
  const exec = withVariables(
    program
      .command("exec")
      .usage("[options] -- <command...>")
      .description("run a command with its own server, in memory and on a free port; exit with its code")
      .argument("[command...]")
      .option(...fixturesOption)
      .option("--fault <json>", "make a response wrong, as with idp faults add; repeatable", collect)
      .option("--https", "serve https with a certificate of its own, which OIDC_CA_FILE and NODE_EXTRA_CA_CERTS name")
      .option("--log <file>", "write every request into a file, a line of JSON each"),
  );
  withSettings(exec)
    .optionsGroup("The identity of a workload (its issuer is in OIDC_WORKLOAD_ISSUER):")
    .addOption(new Option("--as <place>", "as a job or pod there").choices([...workloadKinds]))
    .option("--workload <name>", "as this workload of the fixtures")
    .option("--claim <name=value>", "change a claim of its tokens, as JSON or text; repeatable", setClaim)
    .option("--token-variable <name=audience>", "gitlab: a variable with a token; repeatable", collect)
    .option(
      "--audience <audience>",
      "kubernetes: the aud of the token in IDP_TOKEN_FILE",
      once("a token of a workload has one aud"),
    )
    .option("--namespace <name>", "kubernetes (default: default)")
    .option("--service-account <name>", "kubernetes (default: default)")
    .option("--lifetime <seconds>", "kubernetes: renewed at 80% of it (default: 1h)", seconds(10));
  withFlaws(exec, "Bad tokens of the workload:")
    .addHelpText(
      "after",
      `\nThe command's environment has OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET
and OIDC_REDIRECT_URI; and IDP_URL and IDP_ADMIN_TOKEN, so that commands such
as idp users suspend bob reach this server. Exit codes of exec itself: 125 if
the server cannot start, 126 if the command cannot be run, 127 if not found.
${examples("idp exec -- npm test", "idp exec --client demo-spa --prefix VITE_ --consent skip -- npx playwright test", "idp exec --as github-actions --claim repository=acme/shop -- npm run deploy")}`,
    )
    .action(
      act(async (cli, before: string[], flags: ExecFlags) =>
        (await import("../commands/exec/exec.ts")).exec(cli, { before, words }, flags),
      ),
    );
}
