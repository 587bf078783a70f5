import type { Command } from "commander";
import { examples, type Act } from "./act.ts";

/** The commands on records: users, clients, grants. */

function declareUsers(program: Command, act: Act): void {
  const users = program.command("users").description("list, show, suspend, ban and restore users");
  users
    .command("list")
    .description("list all users")
    .addHelpText("after", examples("idp users list", "idp users list --json | jq -r '.[].username'"))
    .action(act(async (cli) => (await import("./users.ts")).listUsers(cli)));
  users
    .command("show")
    .description("show one user")
    .argument("[username]")
    .addHelpText("after", examples("idp users show alice", "idp users show alice --json | jq -r .id"))
    .action(act(async (cli, username?: string) => (await import("./users.ts")).showUser(cli, username)));
  users
    .command("suspend")
    .description("suspend a user: no sign-in, tokens answer 403, until restored")
    .argument("[username]")
    .addHelpText("after", examples("idp users suspend bob", "idp users restore bob"))
    .action(act(async (cli, username?: string) => (await import("./users.ts")).changeStatus(cli, "suspend", username)));
  users
    .command("ban")
    .description("ban a user: as suspended, and sessions end and grants are revoked for good")
    .argument("[username]")
    .addHelpText("after", examples("idp users ban bob", "idp users restore bob"))
    .action(act(async (cli, username?: string) => (await import("./users.ts")).changeStatus(cli, "ban", username)));
  users
    .command("restore")
    .description("make a suspended or banned user active again")
    .argument("[username]")
    .addHelpText("after", examples("idp users restore bob", "idp users restore carol --json"))
    .action(act(async (cli, username?: string) => (await import("./users.ts")).changeStatus(cli, "restore", username)));
}

function declareClients(program: Command, act: Act): void {
  const clients = program.command("clients").description("list and show clients");
  clients
    .command("list")
    .description("list all clients")
    .option("--show-secrets", "with their secrets")
    .addHelpText("after", examples("idp clients list", "idp clients list --json | jq -r '.[].client_id'"))
    .action(act(async (cli, flags: { showSecrets?: true }) => (await import("./clients.ts")).listClients(cli, flags)));
  clients
    .command("show")
    .description("show one client")
    .argument("[client_id]")
    .option("--show-secrets", "with its secret")
    .addHelpText("after", examples("idp clients show demo-app", "idp clients show demo-app --show-secrets --json"))
    .action(
      act(async (cli, clientId: string | undefined, flags: { showSecrets?: true }) =>
        (await import("./clients.ts")).showClient(cli, clientId, flags),
      ),
    );
}

function declareGrants(program: Command, act: Act): void {
  const grants = program.command("grants").description("list and show what users allowed to clients");
  grants
    .command("list")
    .description("list grants, active and revoked")
    .option("--user <username>", "those of one user")
    .option("--client <client_id>", "those of one client")
    .addHelpText("after", examples("idp grants list", "idp grants list --user alice --json"))
    .action(
      act(async (cli, flags: { user?: string; client?: string }) =>
        (await import("./grants.ts")).listGrants(cli, flags),
      ),
    );
  grants
    .command("show")
    .description("show one grant")
    .argument("[grant_id]")
    .addHelpText("after", examples("idp grants show g_8fK2aQxYz01b", "idp grants show g_8fK2aQxYz01b --json"))
    .action(act(async (cli, id?: string) => (await import("./grants.ts")).showGrant(cli, id)));
}

/** Adds the commands on records to the program. */
export function declareRecords(program: Command, act: Act): void {
  program.commandsGroup("Users, clients, grants:");
  declareUsers(program, act);
  declareClients(program, act);
  declareGrants(program, act);
  program
    .command("revoke")
    .description("revoke grants: every token of that user and client dies at once, for good")
    .argument("[grant_id]")
    .option("--user <username>", "the grants of this user")
    .option("--client <client_id>", "the grants for this client")
    .addHelpText("after", examples("idp revoke --user alice --client demo-app", "idp revoke --client demo-app --yes"))
    .action(
      act(async (cli, grant: string | undefined, flags: { user?: string; client?: string }) =>
        (await import("./revoke.ts")).revoke(cli, grant, flags),
      ),
    );
}
