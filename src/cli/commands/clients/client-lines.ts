import type { ClientView } from "../../../core/clients/admin.ts";
import { commandOn, type Hint } from "../../../core/hint.ts";
import { isObject } from "../../../text/json.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { pairs } from "../../output/table.ts";
import type { Target } from "../../target/target.ts";

/** How a client is shown. */

export const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

export const kindOf = (client: ClientView): string =>
  `${client.saml !== undefined ? "SAML" : client.public ? "public" : "confidential"}${client.metadata_document === true ? ", not registered" : ""}`;

/** Where users return to: the redirect URIs; of a service provider, the ACS. Its metadata is not read for that. */
export function addressesOf(client: ClientView): readonly string[] {
  if (!isObject(client.saml)) return client.redirect_uris;
  const { acs } = client.saml;
  if (!Array.isArray(acs)) return ["as its metadata says"];
  return acs.map((one: unknown) => String(isObject(one) ? one["url"] : one));
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

/** A new secret is shown once. Later, only `clients show --show-secrets` shows it. */
export const said = (
  verb: string,
  client: ClientView,
  { target, about = [] }: { readonly target: Target; readonly about?: readonly (string | Hint)[] },
): Outcome =>
  answer(client, (shown, style) => `${verb} ${describeClient(shown, style)}`, {
    notes: [
      ...about,
      ...(client.client_secret === undefined
        ? []
        : [
            {
              text: "The client_secret was made here. To see it again",
              command: commandOn(["idp", "clients", "show"], client.client_id, ["--show-secrets"]),
            },
          ]),
      target.where,
    ],
  });
