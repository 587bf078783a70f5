/*
 * cli/commands/check: `idp check`. What a check is, it declares itself (src/check); here each becomes a command, which runs it and prints the
 * outcome. host.ts has what a check needs of the command line, screen.ts what it prints.
 */
import { checkApi } from "../../../check/api/check.ts";
import { checkClient } from "../../../check/client/check.ts";
import type { Check } from "../../../check/frame/check.ts";
import type { Flag, FlagRow, RunFlags } from "../../../check/frame/flags.ts";
import { runCheck } from "../../../check/frame/session.ts";
import { checkLeaver } from "../../../check/leaver/check.ts";
import { checkScim } from "../../../check/scim/check.ts";
import { checkSp } from "../../../check/sp/check.ts";
import type { Declare } from "../../act.ts";
import { examples, Option, type AnyCommand } from "../../commander.ts";
import { collect, collectOf, domain, httpMethod, seconds, webUrl } from "../../flags/flag-values.ts";
import { fixturesOption } from "../../flags/settings.ts";
import { withVariables } from "../env/app-variables.ts";
import { commandOf, hostOf, type OtherFlags } from "./host.ts";
import { outcomeOf } from "./screen.ts";

/** In the order of the help. */
const checks: readonly Check[] = [checkClient, checkSp, checkApi, checkScim, checkLeaver];

const url = webUrl("http://localhost:3000/login");

function optionOf({ flag, help, is, repeats, required, usual, shown }: Flag): Option {
  const option = new Option(flag, help);
  if (is === "url") option.argParser(url);
  else if (is === "domain") option.argParser(domain);
  else if (is === "method") option.argParser(httpMethod);
  else if (is !== undefined && "seconds" in is) option.argParser(seconds(...is.seconds));
  else if (is !== undefined) {
    option.choices(is.oneOf);
    if (repeats === true) option.argParser(collectOf(is.oneOf));
  } else if (repeats === true) option.argParser(collect);
  if (usual !== undefined) option.default(usual, shown);
  return required === true ? option.makeOptionMandatory() : option;
}

function addFlag(command: AnyCommand, row: FlagRow): void {
  if (row === "fixtures") command.option(...fixturesOption);
  else if (row === "variables") withVariables(command);
  else command.addOption(optionOf(row));
}

/** commander takes `--url` for the global flag of this name. Here it is the address of what is checked, and `IDP_URL` that of the server. */
function handUrl(program: AnyCommand, command: AnyCommand, env: NodeJS.ProcessEnv): void {
  if (program.getOptionValueSource("url") !== "cli") return;
  command.setOptionValueWithSource("url", program.getOptionValue("url"), "cli");
  program.setOptionValueWithSource("url", env["IDP_URL"], "env");
}

/** Declares the commands of `idp check`. */
export const declareCheck: Declare = (parent, { act, program, words, env }) => {
  for (const check of checks) {
    // The command that starts the app may follow after `--`.
    const command = parent.command(check.name).usage("[options] [-- <command...>]").argument("[command...]");
    command.description(check.summary);
    for (const row of check.flags) addFlag(command, row);
    if (check.takesUrl === true) {
      command.hook("preAction", () => {
        handUrl(program, command, env);
      });
    }
    command
      .addHelpText("after", check.help.trimEnd())
      .addHelpText("after", examples(...check.examples))
      .action(
        act(async (cli, before: readonly string[], given: unknown) => {
          // As the rows declare them.
          const flags = given as RunFlags & OtherFlags;
          const started = commandOf({ before, words }, check);
          const checked = await runCheck(hostOf(cli, flags), check, flags, started, checks);
          return typeof checked === "number" ? checked : outcomeOf(cli, check, checked);
        }),
      );
  }
};
