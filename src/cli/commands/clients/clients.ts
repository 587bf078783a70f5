/*
 * cli/commands/clients: the `clients` commands. clients.ts shows, edit.ts adds, edits and removes.
 */
import type { ClientView } from "../../../core/records/clients/admin.ts";
import { clientOr, confirmed, notConfirmed } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { table } from "../../output/table.ts";
import { findTarget } from "../../target/target.ts";
import { hintText } from "../../../core/base/hint.ts";
import { commandLine } from "../../output/command-line.ts";
import { declareClientChanges } from "./edit.ts";
import { readSecret } from "../../flags/entry-flags.ts";
import { fixtureNotes } from "./fixture-notes.ts";
import { addressesOf, describeClient, kindOf, providerIn, said, text } from "./client-lines.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";

interface SecretFlags {
  readonly showSecrets?: true;
}

/** `idp clients list` */
async function listClients(cli: Invocation, { showSecrets }: SecretFlags): Promise<Outcome> {
  const clients = await (await findTarget(cli)).call("clients.list", { secrets: showSecrets });
  return answer(clients, (shown, style) =>
    shown.length === 0
      ? hintText({ text: "No clients yet. Add one", command: ["idp", "clients", "add", "--help"] }, commandLine(cli))
      : table(
          [
            { title: "CLIENT", value: (client) => client.client_id },
            { title: "NAME", value: (client) => text(client.client_name ?? ""), shrinks: true },
            { title: "TYPE", value: kindOf },
            ...(showSecrets
              ? [{ title: "SECRET", value: (client: ClientView) => text(client.client_secret ?? "") }]
              : []),
            { title: "REDIRECT URIS", value: (client) => addressesOf(client).join("\n") || "none" },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** `idp clients show` */
async function showClient(cli: Invocation, given: string | undefined, { showSecrets }: SecretFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, given, ["idp", "clients", "show", "CLIENT_ID"]);
  const client = await target.call("clients.show", { client_id, secrets: showSecrets });
  const provider = await providerIn(client);
  return answer(client, (shown, style) => describeClient(shown, style, provider));
}

/** `idp clients remove` */
async function removeClient(cli: Invocation, name: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, name, ["idp", "clients", "remove", "CLIENT_ID"]);
  const before = await target.call("clients.show", { client_id });
  if (!(await confirmed(cli, `Remove ${client_id}, with its grants?`)))
    throw notConfirmed(`${client_id} is not removed`);
  await target.call("clients.remove", { client_id });
  return answer({ removed: client_id }, ({ removed }) => `Removed ${removed}, with its grants.`, {
    notes: ["Its tokens get 401 from now on.", ...(await fixtureNotes(target, { before })), target.where],
  });
}

/** `idp clients rotate-secret` */
async function rotateSecret(
  cli: Invocation,
  name: string | undefined,
  flags: { readonly secretStdin?: true },
): Promise<Outcome> {
  const client_secret = await readSecret(cli, flags.secretStdin, "secret");
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, name, ["idp", "clients", "rotate-secret", "CLIENT_ID"]);
  const find = () => target.call("clients.show", { client_id });
  if (!(await confirmed(cli, `Rotate the secret of ${client_id}? The old one stops working at once.`, { find }))) {
    throw notConfirmed("the secret stays");
  }
  const client = await target.call("clients.rotate-secret", { client_id, client_secret });
  const about = await fixtureNotes(target, { before: client, after: client, secret: true });
  return said("Rotated the secret of", client, { target, about });
}

/** Declares the commands of `idp clients`. */
export const declareClients: Declare = (clients, context) => {
  const { act } = context;
  clients
    .command("list", { isDefault: true })
    .description("list all clients")
    .option("--show-secrets", "include the secrets")
    .addHelpText("after", examples("idp clients list", "idp clients list --json | jq -r '.[].client_id'"))
    .action(act(listClients));
  clients
    .command("show")
    .description("show one client")
    .argument("[client_id]")
    .option("--show-secrets", "include the secret")
    .addHelpText("after", examples("idp clients show demo-app", "idp clients show demo-app --show-secrets --json"))
    .action(act(showClient));
  declareClientChanges(clients, context);
  clients
    .command("remove")
    .description("remove a client, with its grants")
    .argument("[client_id]")
    .addHelpText("after", examples("idp clients remove demo-spa", "idp clients remove demo-spa --yes --json"))
    .action(act(removeClient));
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
    .action(act(rotateSecret));
};
