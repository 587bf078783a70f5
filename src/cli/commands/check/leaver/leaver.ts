import { signalNames, type Signal } from "../../../../client/leaver-check/signals.ts";
import { type Declare, examples } from "../../../act.ts";
import { InvalidArgumentError, Option } from "../../../commander.ts";
import { seconds, webUrl } from "../../../flags/flag-values.ts";
import { browserOption, withAddresses, withCommon } from "../common.ts";
import { checkLeaver, type LeaverFlags } from "./check-leaver.ts";
import { withVariables } from "../../env/app-variables.ts";

/** `idp check leaver`. */

const address = webUrl("http://localhost:3000/login");

const help = `
For each signal a user signs in in two browsers and leaves by that signal alone.
Then --signed-in and --api are asked every 250 ms until they refuse, or --within
is over. The signals are scim (active: false), backchannel-logout, revocation
(Global Token Revocation), silence (suspended, and nobody is told) and all (idp
users leave). Each has a user of its own, and all run at the same time; with
--user, one after another. An ordinary sign-in must succeed first, between the
cases and last. Verdicts: noticed (locked out in time), unnoticed, not-required
(the paragraph says so), not-reached, works. The exit code is 6 if something
went unnoticed that is not accepted or the app does not sign in, 5 if it never
answers at --start, and 4 if the clock of the server was moved.

With -- CMD, a server in memory is started, and the app with the environment of
idp exec, OIDC_AUDIENCE and OIDC_JWKS_URI; both end with the command. Without
it, the check runs on the running server: on an issuer of its own, which the app
must use, or on the issuer of --client. Everything is undone at the end.
`;

function signal(value: string, before: readonly Signal[] = []): readonly Signal[] {
  const found = signalNames.find((name) => name === value);
  if (found === undefined) throw new InvalidArgumentError(`It must be ${signalNames.join(", ")}.`);
  return [...before, found];
}

export const declareCheckLeaver: Declare = (check, { act, words }) => {
  const leaver = withAddresses(
    check
      .command("leaver")
      .usage("[options] [-- <command...>]")
      .description("report how long an app lets a person in who left")
      .argument("[command...]"),
  )
    .option("--signed-in-text <text>", "what --signed-in shows only to users, if it answers 200 to everybody")
    .addOption(new Option("--api <url>", "an address of the API that needs a token").argParser(address))
    .addOption(
      new Option("--within <seconds>", "how soon the app must lock the person out")
        .argParser(seconds(1, 86_400))
        .default(300, "5m"),
    )
    .addOption(new Option("--signal <signal>", "only this signal; repeatable").choices(signalNames).argParser(signal))
    .option(...browserOption);
  withVariables(
    withCommon(leaver, "app", "--start", "who leaves, for apps that admit only users they know (default: new users)"),
  )
    .addHelpText(
      "after",
      help +
        examples(
          "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
          "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --api http://localhost:3000/api/me --signal scim --within 1m -- npm start",
          "idp check leaver --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app --report leaver.md",
        ),
    )
    .action(act((cli, before: readonly string[], flags: LeaverFlags) => checkLeaver(cli, { before, words }, flags)));
};
