import { Option, type Command } from "commander";
import { profileNames } from "../../scim/profiles.ts";
import { examples, type Act } from "../act.ts";
import type { PushFlags, ScimFlags } from "../scim/scim.ts";
import { collect, wholeNumber } from "./flag-values.ts";

/** The commands that send users and groups to the SCIM servers of apps. */

const profile = (): Option =>
  new Option("--profile <profile>", "whose requests are sent (default: the client's own)").choices(profileNames);

export function declareScim(program: Command, act: Act): void {
  const scim = program.command("scim").description("send users and groups to the SCIM server of an app");
  const withClient = (command: Command): Command =>
    command.option("--client <client_id>", "only this client (default: every client that has scim)");
  withClient(scim.command("push"))
    .description("send what differs from the last push")
    .option("--user <username>", "only this user, and no groups; repeatable", collect)
    .addOption(profile())
    .option("--dry-run", "print the requests and send none")
    .option("--full", "send everything, also what did not change")
    .addOption(new Option("--parallel <n>", "how many users at a time").argParser(wholeNumber))
    .addHelpText("after", examples("idp scim push", "idp scim push --client demo-app --profile entra --dry-run"))
    .action(act(async (cli, flags: PushFlags) => (await import("../scim/scim.ts")).pushScim(cli, flags)));
  withClient(scim.command("status", { isDefault: true }))
    .description("list what each app has, and what is pending")
    .addHelpText(
      "after",
      examples("idp scim status", "idp scim status --client demo-app --json | jq '.users[] | select(.pending)'"),
    )
    .action(act(async (cli, flags: ScimFlags) => (await import("../scim/scim.ts")).scimStatus(cli, flags)));
  withClient(scim.command("test"))
    .description("ask what the console of the vendor asks at Test Connection")
    .addOption(profile())
    .addHelpText("after", examples("idp scim test", "idp scim test --client demo-app --profile okta"))
    .action(act(async (cli, flags: ScimFlags) => (await import("../scim/scim.ts")).testScim(cli, flags)));
}
