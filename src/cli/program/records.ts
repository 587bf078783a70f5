import type { Command } from "commander";
import { examples, type Act } from "../act.ts";
import type { ClientEditFlags, ClientFlags } from "../commands/clients/edit.ts";
import { collect } from "../flags/flag-values.ts";
import type { RevokeFlags } from "../commands/grants/revoke.ts";
import { setOption } from "../flags/set-field.ts";
import { declareUsers } from "./users.ts";

/** The commands on records: clients and grants; those on users are in users.ts. */

const clientFields = (command: Command): Command =>
  command
    .option("--name <name>", "the display name")
    .option("--redirect-uri <uri>", "a redirect URI; repeatable", collect)
    .option("--scope <scopes>", "the scopes it may request, separated by spaces (default: all)")
    .option("--public", "make it a public client: no secret, PKCE required")
    .option("--secret-stdin", "read the secret from standard input")
    .addOption(setOption());

function declareClients(program: Command, act: Act): void {
  const clients = program.command("clients").description("list, show, add, edit and remove clients");
  clients
    .command("list", { isDefault: true })
    .description("list all clients")
    .option("--show-secrets", "include the secrets")
    .addHelpText("after", examples("idp clients list", "idp clients list --json | jq -r '.[].client_id'"))
    .action(
      act(async (cli, flags: { showSecrets?: true }) =>
        (await import("../commands/clients/clients.ts")).listClients(cli, flags),
      ),
    );
  clients
    .command("show")
    .description("show one client")
    .argument("[client_id]")
    .option("--show-secrets", "include the secret")
    .addHelpText("after", examples("idp clients show demo-app", "idp clients show demo-app --show-secrets --json"))
    .action(
      act(async (cli, clientId: string | undefined, flags: { showSecrets?: true }) =>
        (await import("../commands/clients/clients.ts")).showClient(cli, clientId, flags),
      ),
    );
  declareClientChanges(clients, act);
}

function declareClientChanges(clients: Command, act: Act): void {
  clientFields(clients.command("add"))
    .option("--saml-metadata <file|url|->", "a service provider of SAML, by its metadata; an address is read once")
    .option(
      "--saml-acs <url>",
      "a service provider of SAML, by the address that responses are posted to; repeatable",
      collect,
    )
    .description("add a client; a confidential client gets a secret, which is shown")
    .argument("[client_id]")
    .addHelpText(
      "after",
      examples(
        "idp clients add shop --redirect-uri http://localhost:3000/callback",
        "idp clients add spa --public --redirect-uri http://localhost:5173/callback",
        "idp clients add --saml-metadata sp.xml",
        "idp clients add http://localhost:3000/saml/metadata --saml-acs http://localhost:3000/saml/acs",
      ),
    )
    .action(
      act(async (cli, clientId: string | undefined, flags: ClientFlags) =>
        (await import("../commands/clients/edit.ts")).addClient(cli, clientId, flags),
      ),
    );
  clientFields(clients.command("edit"))
    .option("--add-redirect-uri <uri>", "add a redirect URI; repeatable", collect)
    .option("--remove-redirect-uri <uri>", "remove a redirect URI; repeatable", collect)
    .option("--add-saml-acs <url>", "add an address that responses of SAML are posted to; repeatable", collect)
    .option("--scim-token-stdin", "read the token of the app's SCIM server from standard input")
    .description("change a client; each flag replaces the old value")
    .argument("[client_id]")
    .addHelpText(
      "after",
      examples(
        "idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback",
        "idp clients edit demo-app --set require_pkce=true --set audience=null",
      ),
    )
    .action(
      act(async (cli, clientId: string | undefined, flags: ClientEditFlags) =>
        (await import("../commands/clients/edit.ts")).editClient(cli, clientId, flags),
      ),
    );
  clients
    .command("remove")
    .description("remove a client, with its grants")
    .argument("[client_id]")
    .addHelpText("after", examples("idp clients remove demo-spa", "idp clients remove demo-spa --yes --json"))
    .action(act(async (cli, clientId?: string) => (await import("../commands/clients/edit.ts")).removeClient(cli, clientId)));
  clients
    .command("rotate-secret")
    .description("give a client a new secret and show it; the old one stops working")
    .argument("[client_id]")
    .option("--secret-stdin", "read the new secret from standard input")
    .addHelpText(
      "after",
      examples(
        "idp clients rotate-secret demo-app --json | jq -r .client_secret",
        'printf %s "$SECRET" | idp clients rotate-secret demo-app --secret-stdin',
      ),
    )
    .action(
      act(async (cli, clientId: string | undefined, flags: { secretStdin?: true }) =>
        (await import("../commands/clients/edit.ts")).rotateSecret(cli, clientId, flags),
      ),
    );
}

function declareGrants(program: Command, act: Act): void {
  const grants = program.command("grants").description("list, show and revoke the consents of users");
  grants
    .command("list", { isDefault: true })
    .description("list grants, active and revoked")
    .option("--user <username>", "only those of this user")
    .option("--client <client_id>", "only those of this client")
    .addHelpText("after", examples("idp grants list", "idp grants list --user alice --json"))
    .action(
      act(async (cli, flags: { user?: string; client?: string }) =>
        (await import("../commands/grants/grants.ts")).listGrants(cli, flags),
      ),
    );
  grants
    .command("show")
    .description("show one grant")
    .argument("[grant_id]")
    .addHelpText("after", examples("idp grants show g_8fK2aQxYz01b", "idp grants show g_8fK2aQxYz01b --json"))
    .action(act(async (cli, id?: string) => (await import("../commands/grants/grants.ts")).showGrant(cli, id)));
  grants
    .command("revoke")
    .description("revoke one grant: all tokens of that user and client become invalid, permanently")
    .argument("[grant_id]")
    .addHelpText("after", examples("idp grants revoke g_8fK2aQxYz01b", "idp grants revoke g_8fK2aQxYz01b --json"))
    .action(
      act(async (cli, id?: string) =>
        (await import("../commands/grants/revoke.ts")).revoke(cli, id, {}, ["idp", "grants", "revoke", "GRANT_ID"]),
      ),
    );
}

/** Adds the commands on records to the program. */
export function declareRecords(program: Command, act: Act): void {
  program.commandsGroup("Users, clients, grants:");
  declareUsers(program, act);
  declareClients(program, act);
  declareGrants(program, act);
  program
    .command("scopes")
    .description("list the scopes that apps can ask for, with the claims of each")
    .addHelpText("after", examples("idp scopes", "idp scopes --json | jq -r '.[].name'"))
    .action(act(async (cli) => (await import("../commands/scopes.ts")).listScopes(cli)));
  declareRevoke(program, act);
}

function declareRevoke(program: Command, act: Act): void {
  program
    .command("revoke")
    .description("revoke grants: all tokens of that user and client become invalid, permanently")
    .argument("[grant_id]")
    .option("--user <username>", "the grants of this user")
    .option("--client <client_id>", "the grants for this client")
    .option("--all", "all grants of all users")
    .addHelpText("after", examples("idp revoke --user alice --client demo-app", "idp revoke --client demo-app --yes"))
    .action(
      act(async (cli, grant: string | undefined, flags: RevokeFlags) =>
        (await import("../commands/grants/revoke.ts")).revoke(cli, grant, flags),
      ),
    );
}
