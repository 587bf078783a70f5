import { InvalidArgumentError, Option, type Command } from "commander";
import { examples, type Act } from "../act.ts";
import { loginClient } from "../commands/init/app-types.ts";
import { seconds, webUrl } from "../flags/flag-values.ts";
import type { LoginFlags } from "../commands/login/login.ts";

/** The command that acts as a client. */

function issuer(value: string): string {
  const [base = "", metadata] = value.split("/.well-known/");
  if (metadata !== undefined) throw new InvalidArgumentError(`It must be the issuer, not its metadata: ${base}`);
  if (/[?#]/.test(value)) throw new InvalidArgumentError("It must not have ? or #.");
  return webUrl("https://login.example.com")(value);
}

function port(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < 1 || number > 65_535) {
    throw new InvalidArgumentError("It must be a whole number from 1 to 65535.");
  }
  return number;
}

const help = `
Each check is a line with ✓ or ✗ and the result. The exit code is 6 if a check
fails or the login is refused. With --print, standard output has only that
token, and standard error has the checks. --json prints {"valid","issuer",
"client","flow","checks":[{"name","ok","detail"}],"tokens","claims","userinfo"}:
the token response, the claims of the ID token and UserInfo, each null if
there is none.
`;

/** Adds `idp login` to the program. */
export function declareLogin(program: Command, act: Act): void {
  program.commandsGroup("Act as a client:");
  program
    .command("login")
    .description("sign in to this or any other provider as a client would, and report every check")
    .addOption(new Option("--issuer <url>", "any provider (default: the running server)").argParser(issuer))
    .option("--client <client_id>", "the client to sign in as", loginClient)
    .option("--secret-stdin", "read the client's secret from standard input; not needed with a running server")
    .addOption(
      new Option("--flow <flow>", "the flow to use").choices(["code", "device", "client-credentials"]).default("code"),
    )
    .option("--scope <scopes>", 'scopes, separated by spaces (default: "openid profile email")')
    .addOption(new Option("--print <what>", "print only this").choices(["access", "id", "refresh", "response"]))
    .addOption(
      new Option("--timeout <seconds>", "wait this long for the user").argParser(seconds(1, 86_400)).default(120),
    )
    .optionsGroup("Without a browser, on an idp server:")
    .option("--user <username>", "sign in as this user; needs --approve or --deny")
    .option("--approve", "allow everything on the consent page")
    .option("--deny", "deny on the consent page, which is shown again")
    .optionsGroup("In a browser:")
    .option("--no-browser", "print the address instead of opening it")
    .addOption(
      new Option("--redirect-port <port>", "listen on this port of 127.0.0.1 (default: a free one)").argParser(port),
    )
    .optionsGroup("Parameters of the authorization request:")
    .option("--prompt <values>", "login, consent, select_account or none")
    .addOption(new Option("--max-age <seconds>", "the maximum age of the sign-in").argParser(seconds(0, 4_294_967_295)))
    .option("--login-hint <name>", "the user who will probably sign in")
    .option("--ui-locales <languages>", "the languages of the pages, as: tr en")
    .option("--acr <values>", "acr_values; the ID token must have one of them")
    .addOption(new Option("--response-mode <mode>", "how the response is returned").choices(["query", "form_post"]))
    .addHelpText(
      "after",
      help +
        examples(
          "idp login",
          "idp login --user alice --approve --json",
          "TOKEN=$(idp login --client demo-service --flow client-credentials --print access)",
          "idp login --issuer https://login.example.com --client my-app --secret-stdin < secret.txt",
        ),
    )
    .action(act(async (cli, flags: LoginFlags) => (await import("../commands/login/login.ts")).login(cli, flags)));
}
