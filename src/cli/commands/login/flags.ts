import { OperationError } from "../../../core/base/errors.ts";
import type { Hint } from "../../../core/base/hint.ts";
import { withNames } from "../../input/example.ts";
import type { Invocation } from "../../invocation.ts";
import { seconds, webUrl } from "../../flags/flag-values.ts";
import { loginClient } from "../init/app-types.ts";
import { type Command, type FlagsOf, InvalidArgumentError, Option } from "../../commander.ts";

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

export const withLoginFlags = (command: Command) =>
  command
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
    .option("--ui-locales <languages>", "the languages of the pages, such as 'tr en'")
    .option("--acr <values>", "acr_values; the ID token must have one of them")
    .addOption(new Option("--response-mode <mode>", "how the response is returned").choices(["query", "form_post"]));
export type LoginFlags = FlagsOf<typeof withLoginFlags> & {
  /** Whether a key of `idp start` started it; then Ctrl+C of the terminal goes to the server. */
  readonly withServer?: true;
};

/** What is decided for the user; null if a person signs in. */
export const decisionOf = ({ approve, deny }: LoginFlags): "allow" | "deny" | null =>
  approve === true ? "allow" : deny === true ? "deny" : null;

const usage = (message: string, hint: string | Hint): OperationError => new OperationError("usage", message, { hint });

/** Refuses flags that do not go together. @throws {OperationError} usage */
export async function checkFlags(cli: Invocation, flags: LoginFlags): Promise<void> {
  const { flow, user, approve, deny, print } = flags;
  if (cli.json && print !== undefined) {
    throw usage("give --json or --print, not both", {
      text: "The tokens are in the document of --json",
      command: ["idp", "login", "--json"],
    });
  }
  if (approve === true && deny === true) throw usage("--approve or --deny, not both", "Leave one out");
  const decided = decisionOf(flags) !== null;
  if (user !== undefined && !decided) {
    throw usage("--user says who signs in, but not what they decide", {
      text: "Add --approve or --deny. In a browser",
      command: ["idp", "login", "--login-hint", user],
    });
  }
  if (user === undefined && decided) {
    throw usage(`--${deny === true ? "deny" : "approve"} needs --user`, {
      text: "For example",
      command: await withNames(cli, ["idp", "login", "--user", "USERNAME", `--${deny === true ? "deny" : "approve"}`]),
    });
  }
  if (flow === "client-credentials" && decided) {
    throw usage("--flow client-credentials has no user", "Leave out --user, --approve and --deny");
  }
  const { prompt, maxAge, loginHint, uiLocales, acr, responseMode, redirectPort } = flags;
  const ofCode = {
    prompt,
    "max-age": maxAge,
    "login-hint": loginHint,
    "ui-locales": uiLocales,
    acr,
    "response-mode": responseMode,
    "redirect-port": redirectPort,
  };
  const [foreign] = Object.entries(ofCode).find(([, value]) => value !== undefined) ?? [];
  if (flow !== "code" && foreign !== undefined) {
    throw usage(
      `--${foreign} belongs to the authorization request, but --flow ${flow} has none`,
      `Leave out --${foreign}`,
    );
  }
}
