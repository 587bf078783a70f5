import { profileNames } from "../../../../scim/profiles.ts";
import { type Declare, examples } from "../../../act.ts";
import { Option } from "../../../commander.ts";
import { notListed } from "../../../flags/flag-values.ts";
import { fixturesOption } from "../../../flags/settings.ts";
import { handUrl, withRun } from "../common.ts";
import { checkScim } from "./check-scim.ts";
import type { ScimFlags } from "./place.ts";

/** `idp check scim`. */

const help = `
The command is a provisioning client with users and groups of its own, which it
removes at the end. After every change it reads back: a 2xx that changed nothing
is unnoticed. Requests are those of each --profile; names carry it, as in
entra.deactivate, and --case deactivate runs the case in every profile.
Creating, reading and removing a user must work first, between the cases and
last.
Verdicts: noticed (refused as required), works (done as required), unnoticed,
not-required (the paragraph says so), not-reached. The exit code is 6 if
something went unnoticed that is not accepted or the first case fails, 5 if the
app never answers, and 3 for a client without scim.

--url needs no server. Without it, the app is the one of a client that has scim:
of the running server or, with -- CMD, of a server in memory, and the app is
started with the environment of idp exec.
`;

function profile(value: string, before: readonly string[] = []): readonly string[] {
  const known: readonly string[] = profileNames;
  if (!known.includes(value)) throw notListed(value, known, `It must be ${known.join(", ")}.`);
  return [...before, value];
}

export const declareCheckScim: Declare = (check, { act, program, words, env }) => {
  const scim = check
    .command("scim")
    .usage("[options] [-- <command...>]")
    .description("report what an app answers to a provisioning client, and does not do")
    .argument("[command...]")
    .option("--client <client_id>", "the client whose scim is checked (default: the one that has it)")
    .option("--url <url>", "the address of a SCIM server, in place of a client's")
    .hook("preAction", (_hooked, command) => {
      handUrl(program, command, env);
    })
    .option("--token-env <name>", "the variable that holds the token of --url")
    .addOption(
      new Option("--profile <profile>", "whose requests are sent; repeatable (default: all but entra-compliant)")
        .choices(profileNames)
        .argParser(profile),
    )
    .option("--pages", "also list 201 users page by page")
    .option("--other-token-env <name>", "the variable that holds the token of another tenant, who must see nothing")
    .option("--keep", "leave the users and groups of the check in the app");
  withRun(scim, "app", "--url or scim.url")
    .option(...fixturesOption)
    .addHelpText(
      "after",
      help +
        examples(
          "idp check scim --client demo-app",
          "idp check scim --url http://localhost:3000/scim/v2 --token-env SCIM_TOKEN --profile entra -- npm start",
          "idp check scim --case deactivate --report report.xml -- npm start",
        ),
    )
    .action(act((cli, before: readonly string[], flags: ScimFlags) => checkScim(cli, { before, words }, flags)));
};
