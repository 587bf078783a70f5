import { type AnyCommand, type Command, type Flags, Option } from "../../commander.ts";
import { collect, seconds, webUrl } from "../../flags/flag-values.ts";
import { fixturesOption } from "../../flags/settings.ts";

/** What the commands of `idp check` declare alike. */

/** A command, which the command that starts the app may follow after `--`. */
export const checkCommand = (check: Command, name: string, description: string) =>
  check.command(name).usage("[options] [-- <command...>]").description(description).argument("[command...]");

/** What every check takes. @param what "app" or "API" @param place the flag with its address */
export const withRun = <A extends unknown[], F extends Flags, G extends Flags>(
  command: Command<A, F, G>,
  what: string,
  place: string,
) =>
  command
    .option("--case <name>", "only this case; repeatable", collect)
    .option("--accept <name[=reason]>", "let this case go unnoticed; repeatable, also in idp.check.yaml", collect)
    .option("--report <file>", "also write JUnit (.xml) or Markdown (.md)")
    .addOption(
      new Option("--timeout <seconds>", `how long the ${what} may take to start`)
        .argParser(seconds(1, 86_400))
        .default(30),
    )
    .addOption(
      new Option("--total-timeout <seconds>", "how long the whole check may take")
        .argParser(seconds(1, 86_400))
        .default(900, "15m"),
    )
    .option("--allow-remote", `let ${place} be outside this machine and private networks`);

/** What a check with users takes. @param what "app" or "API" @param place the flag with its address */
export const withCommon = <A extends unknown[], F extends Flags, G extends Flags>(
  command: Command<A, F, G>,
  what: string,
  place: string,
  user = `whose ${what === "API" ? "tokens are sent" : "sign-in it is"} (default: the first active user)`,
) => withRun(command.option("--user <username>", user), what, place).option(...fixturesOption);

export const startButtonOption = [
  "--start-button <text>",
  "the button or link to press, where the page at --start has several",
] as const;

/** An address of the app. */
export const address = webUrl("http://localhost:3000/login");

/** The addresses of an app. */
export const withAddresses = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  command
    .addOption(
      new Option("--start <url>", "the address behind the app's Sign in button")
        .argParser(address)
        .makeOptionMandatory(),
    )
    .addOption(
      new Option("--signed-in <url>", "an address of the app that only users may see")
        .argParser(address)
        .makeOptionMandatory(),
    )
    .option("--signed-in-text <text>", "what --signed-in shows only to users, if it answers 200 to everybody")
    .option(...startButtonOption);

export const browserOption = [
  "--browser",
  "use Chromium, for apps that need scripts; needs playwright-core or playwright",
] as const;

/** commander takes `--url` for the global flag of this name. Here it is the address of the API, and `IDP_URL` that of the server. */
export function handUrl(program: AnyCommand, command: AnyCommand, env: NodeJS.ProcessEnv): void {
  if (program.getOptionValueSource("url") !== "cli") return;
  command.setOptionValueWithSource("url", program.getOptionValue("url"), "cli");
  program.setOptionValueWithSource("url", env["IDP_URL"], "env");
}
