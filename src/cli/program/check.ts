import { Option, type Command } from "commander";
import { examples, type Act } from "../act.ts";
import type { CheckFlags } from "../check/check-client.ts";
import { withVariables } from "./apps.ts";
import { collect, seconds, webUrl } from "./flag-values.ts";
import { fixturesOption } from "./settings.ts";

/** The command that checks whether an app notices wrong responses. */

const address = webUrl("http://localhost:3000/login");

const help = `
Each case lets the app sign a user in, with one thing wrong in a response, and
then asks --signed-in whether somebody is signed in: 2xx, and no redirect to
sign in. An ordinary sign-in must succeed first, between the cases and last.
Verdicts: noticed, unnoticed, not-required (the paragraph says so), not-reached,
works (a control, or a case that must still work). The exit code is 6 if
something went unnoticed or the app does not sign in, and 5 if it never answers
at --start.

With -- CMD, a server in memory is started, and the app with the environment of
idp exec; both end with the command. Without it, the cases run on the running
server: on their own issuer, which the app must use, or on the issuer of
--client, where their faults apply only to that client.
`;

/** Adds `idp check client` to the program. @param words what was typed; the command of the app is after -- */
export function declareCheck(program: Command, act: Act, words: readonly string[]): void {
  const check = program.command("check").description("check an app that signs users in");
  withVariables(
    check
      .command("client")
      .usage("[options] [-- <command...>]")
      .description("report which wrong responses an app does not notice")
      .argument("[command...]")
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
      .addOption(new Option("--sign-out <url>", "an address that signs the user out").argParser(address))
      .option("--user <username>", "who signs in (default: the first active user)")
      .option("--case <name>", "only this case; repeatable", collect)
      .option("--accept <name[=reason]>", "let this case go unnoticed; repeatable, also in idp.check.yaml", collect)
      .option("--browser", "use Chromium, for apps that need scripts; needs playwright-core or playwright")
      .option("--report <file>", "also write JUnit (.xml) or Markdown (.md)")
      .addOption(
        new Option("--timeout <seconds>", "how long the app may take to start")
          .argParser(seconds(1, 86_400))
          .default(30),
      )
      .option("--allow-remote", "let --start be outside this machine and private networks")
      .option(...fixturesOption),
  )
    .addHelpText(
      "after",
      help +
        examples(
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app",
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --case pkce --report report.xml -- npm start",
        ),
    )
    .action(
      act(async (cli, before: string[], flags: CheckFlags) =>
        (await import("../check/check-client.ts")).checkClient(cli, { before, words }, flags),
      ),
    );
}
