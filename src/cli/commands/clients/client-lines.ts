import { X509Certificate } from "node:crypto";
import type { ClientView } from "../../../core/records/clients/admin.ts";
import type { ServiceProvider } from "../../../core/records/service-providers/provider.ts";
import type { Client } from "../../../store/store.ts";
import { commandOn, type Hint } from "../../../core/base/hint.ts";
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

/** What applies to a client that is a service provider, for {@link describeClient}. */
export async function providerIn(client: ClientView): Promise<ServiceProvider | null> {
  if (client.saml === undefined) return null;
  const { serviceProvider } = await import("../../../core/records/service-providers/provider.ts");
  return serviceProvider(client as unknown as Client);
}

/** A service provider in short: what applies, in place of its XML. `--json` has that. */
function providerRows(saml: unknown, provider: ServiceProvider): Readonly<Record<string, unknown>> {
  const { metadata, certificates: _, acs: __, slo: ___, ...others } = isObject(saml) ? saml : {};
  const named = Object.entries(others).map(([name, value]) => [`saml.${name}`, value] as const);
  return {
    ...(typeof metadata === "string" && { "saml.metadata": `${metadata.length} characters of XML (--json has them)` }),
    "saml.acs": provider.acs.map(({ url, index }) => (index === null ? url : `${url} (index ${index})`)),
    ...(provider.slo !== null && { "saml.slo": provider.slo.url }),
    ...(provider.certificates.length > 0 && {
      "saml.certificates": provider.certificates.map((one) => {
        const { fingerprint256, validTo } = new X509Certificate(one);
        return `until ${new Date(validTo).toISOString().slice(0, 10)}, SHA-256 ${fingerprint256}`;
      }),
    }),
    ...Object.fromEntries(named),
  };
}

/** The lines of one client. @param provider what applies to a service provider */
export function describeClient(client: ClientView, style: Style, provider: ServiceProvider | null = null): string {
  const { client_id: id, ...fields } = client;
  const { saml, ...others } = fields;
  const rest = provider === null ? fields : { ...others, ...providerRows(saml, provider) };
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
  {
    target,
    about = [],
    provider = null,
  }: {
    readonly target: Target;
    readonly about?: readonly (string | Hint)[];
    readonly provider?: ServiceProvider | null;
  },
): Outcome =>
  answer(client, (shown, style) => `${verb} ${describeClient(shown, style, provider)}`, {
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
