import { Option, type Command } from "commander";
import { profileNames } from "../../scim/profiles.ts";
import { examples, type Act } from "../act.ts";
import type { PushFlags, ScimFlags } from "../commands/scim.ts";
import { collect, wholeNumber } from "../flags/flag-values.ts";
import { setClaim, setOption } from "../flags/set-field.ts";
import type { UserEditFlags, UserFlags } from "../commands/users/edit.ts";
import type { ListFlags } from "../commands/users/users.ts";

/** The commands on users, and those that send users to the SCIM servers of apps. */

const statusOption = (description: string): Option =>
  new Option("--status <status>", description).choices(["active", "suspended", "banned"]);

const userFields = (command: Command): Command =>
  command
    .option("--email <address>", "the e-mail address")
    .option("--display-name <name>", "the display name")
    .option("--password-stdin", "read the password from standard input")
    .addOption(statusOption("the status"))
    .addOption(setOption());

/** Name, description and examples of each command that changes the status of users. */
const statusCommands = [
  [
    "suspend",
    "suspend users: no sign-in, and tokens get 403, until restored",
    "idp users suspend bob",
    "idp users restore bob",
  ],
  [
    "ban",
    "ban users: suspend them, end their sessions, revoke their grants permanently",
    "idp users ban bob",
    "idp users restore bob",
  ],
  [
    "restore",
    "make suspended or banned users active again",
    "idp users restore bob",
    "idp users restore bob carol --json",
  ],
] as const;

export function declareUsers(program: Command, act: Act): void {
  const users = program.command("users").description("list, show, add, edit, remove, suspend, ban and restore users");
  users
    .command("list", { isDefault: true })
    .description("list users")
    .option("--role <role>", "only those with this role in claims.roles, or where Keycloak's tokens have roles")
    .option("--group <group>", "only those with this group in claims.groups")
    .addOption(statusOption("only those with this status"))
    .addHelpText("after", examples("idp users list", "idp users list --role admin --json | jq -r '.[].username'"))
    .action(act(async (cli, flags: ListFlags) => (await import("../commands/users/users.ts")).listUsers(cli, flags)));
  users
    .command("show")
    .description("show one user")
    .argument("[username]")
    .addHelpText("after", examples("idp users show alice", "idp users show alice --json | jq -r .id"))
    .action(act(async (cli, username?: string) => (await import("../commands/users/users.ts")).showUser(cli, username)));
  users
    .command("otp")
    .description("print the one-time code of a user")
    .argument("[username]")
    .addHelpText("after", examples("idp users otp alice", "idp users otp alice --json | jq -r .uri"))
    .action(act(async (cli, username?: string) => (await import("../commands/users/otp.ts")).showCode(cli, username)));
  userFields(users.command("add"))
    .description("add a user; only a username is required")
    .argument("[username]")
    .addHelpText(
      "after",
      examples(
        "idp users add erin --email erin@example.test --set language=tr",
        'printf %s "$PASSWORD" | idp users add erin --password-stdin',
      ),
    )
    .action(
      act(async (cli, username: string | undefined, flags: UserFlags) =>
        (await import("../commands/users/edit.ts")).addUser(cli, username, flags),
      ),
    );
  userFields(users.command("edit"))
    .option("--add-claim <name=value>", "set one claim and keep the others; repeatable", setClaim)
    .description("change fields of a user")
    .argument("[username]")
    .addHelpText(
      "after",
      examples(
        "idp users edit alice --display-name 'Alice Adams'",
        "idp users edit alice --add-claim 'roles=[\"admin\"]'",
      ),
    )
    .action(
      act(async (cli, username: string | undefined, flags: UserEditFlags) =>
        (await import("../commands/users/edit.ts")).editUser(cli, username, flags),
      ),
    );
  users
    .command("remove")
    .description("remove users, with their grants and sessions")
    .argument("[username...]")
    .addHelpText("after", examples("idp users remove bob", "idp users remove bob carol --yes --json"))
    .action(act(async (cli, usernames: string[]) => (await import("../commands/users/edit.ts")).removeUsers(cli, usernames)));
  for (const [name, description, ...lines] of statusCommands) {
    users
      .command(name)
      .description(description)
      .argument("[username...]")
      .addHelpText("after", examples(...lines))
      .action(
        act(async (cli, usernames: string[]) =>
          (await import("../commands/users/status.ts")).changeStatus(cli, name, usernames),
        ),
      );
  }
  users
    .command("leave")
    .description("suspend a user who leaves, end their sessions, and tell every app")
    .argument("<username>", "a name that idp users list shows")
    .addHelpText("after", examples("idp users leave bob", "idp users leave bob --json | jq '.signals[]'"))
    .action(act(async (cli, username: string) => (await import("../commands/scim.ts")).leaveUser(cli, username)));
}

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
    .action(act(async (cli, flags: PushFlags) => (await import("../commands/scim.ts")).pushScim(cli, flags)));
  withClient(scim.command("status", { isDefault: true }))
    .description("list what each app has, and what is pending")
    .addHelpText(
      "after",
      examples("idp scim status", "idp scim status --client demo-app --json | jq '.users[] | select(.pending)'"),
    )
    .action(act(async (cli, flags: ScimFlags) => (await import("../commands/scim.ts")).scimStatus(cli, flags)));
  withClient(scim.command("test"))
    .description("ask what the console of the vendor asks at Test Connection")
    .addOption(profile())
    .addHelpText("after", examples("idp scim test", "idp scim test --client demo-app --profile okta"))
    .action(act(async (cli, flags: ScimFlags) => (await import("../commands/scim.ts")).testScim(cli, flags)));
}
