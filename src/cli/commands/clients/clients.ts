/*
 * cli/commands/clients: the `clients` commands. clients.ts shows, edit.ts adds, edits and removes.
 */
import type { ClientView } from "../../../core/clients/admin.ts";
import { clientOr } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { pairs, table } from "../../output/table.ts";
import { findTarget } from "../../target/target.ts";
import { hintText } from "../../../core/hint.ts";
import { commandLine } from "../../output/command-line.ts";

interface SecretFlags {
  readonly showSecrets?: true;
}

const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const kindOf = (client: ClientView): string =>
  `${client.public ? "public" : "confidential"}${client.metadata_document === true ? ", not registered" : ""}`;

/** `idp clients list` */
export async function listClients(cli: Invocation, { showSecrets }: SecretFlags): Promise<Outcome> {
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
            { title: "REDIRECT URIS", value: (client) => client.redirect_uris.join("\n") || "none" },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** `idp clients show` */
export async function showClient(
  cli: Invocation,
  given: string | undefined,
  { showSecrets }: SecretFlags,
): Promise<Outcome> {
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, given, ["idp", "clients", "show", "CLIENT_ID"]);
  const client = await target.call("clients.show", { client_id, secrets: showSecrets });
  return answer(client, describeClient);
}

/** The lines of one client. */
export function describeClient(client: ClientView, style: Style): string {
  const { client_id: id, ...rest } = client;
  return [
    `${style.bold(id)}  ${kindOf(client)}`,
    pairs(
      Object.entries(rest).flatMap(([name, value]) =>
        Array.isArray(value) && value.every((item) => typeof item === "string")
          ? value.map((item, index) => [index === 0 ? name : "", text(item)] as const)
          : [[name, text(value)] as const],
      ),
      style,
    ),
  ].join("\n");
}
