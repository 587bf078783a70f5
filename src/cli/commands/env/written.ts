import { parseEnv } from "node:util";
import { discoveryPath } from "../../../core/base/endpoints.ts";
import type { Hint } from "../../../core/base/hint.ts";
import { usualNames, type AppValues, type OwnNames } from "./app-variables.ts";
import { envFile } from "./choices.ts";
import { blockIn, readTextFile } from "./file.ts";

/** What `idp env --write` and `idp init` wrote into an app's file before. */

type Written = Readonly<Partial<Record<keyof AppValues, readonly [name: string, value: string]>>>;

/** An address of the web, or of an app: `myapp:/callback`. */
const isAddress = (value: string): boolean => /^[a-z][a-z\d+.-]*:\//i.test(value);

/**
 * The values in our block. Whatever its names are, the usual ones come last in them (`VITE_OIDC_ISSUER`), or the first address is the issuer
 * and the first other value the client, because we write them in this order.
 * @param others names of the client's own variables, which come after them; null: they are not known
 */
function writtenIn(text: string, others: readonly string[] | null): Written {
  const found: Partial<Record<keyof AppValues, readonly [string, string]>> = {};
  const block = blockIn(text)?.replaceAll(/^export /gm, "") ?? "";
  const values = parseEnv(block);
  // parseEnv sorts them.
  const entries = [...block.matchAll(/^(\w+)=/gm)].map(([, name = ""]) => [name, values[name]] as const);
  const rest = entries.filter(([name, value = ""]) => {
    const known = (Object.keys(usualNames) as (keyof AppValues)[]).find((one) => name.endsWith(usualNames[one]));
    const kind = known ?? (value.endsWith(discoveryPath) ? "discovery" : undefined);
    if (kind !== undefined) found[kind] = [name, value];
    return kind === undefined && !/^(SAML_|SCIM_|OIDC_CA_FILE$)/.test(name) && others?.includes(name) !== true;
  });
  for (const [name, value = ""] of rest) {
    const kinds = isAddress(value) ? (["issuer", "redirect_uri"] as const) : (["client_id", "client_secret"] as const);
    const kind = kinds.find((one) => found[one] === undefined);
    if (kind === undefined || (kind === "client_secret" && others === null && !/SECRET/i.test(name))) break;
    found[kind] = [name, value];
  }
  return found;
}

/** The names that a file has for the values; none if it has no block. @param others names of the client's own variables */
export const namesIn = (text: string, others: readonly string[]): OwnNames =>
  Object.fromEntries(Object.entries(writtenIn(text, others)).map(([value, [name]]) => [value, name]));

/** The prefix of a name, which values that are new in the block get, too: `VITE_` of `VITE_OIDC_ISSUER`. */
export const prefixIn = (issuerName: string): string =>
  issuerName.endsWith(usualNames.issuer) ? issuerName.slice(0, -usualNames.issuer.length) : "";

/** A client as the app may be told of it. The secret is compared where it is known. */
interface Told {
  readonly client_id: string;
  readonly redirect_uris: readonly string[];
  readonly client_secret?: unknown;
}

/**
 * All that is no longer true in the app's file of this folder; null for nothing.
 * @param issuer of the server that the app will find @param clients its clients
 */
export async function staleFile(
  issuer: string,
  clients: readonly Told[],
): Promise<{ readonly detail: string; readonly fix: Hint } | null> {
  const written = writtenIn((await readTextFile(envFile).catch(() => null)) ?? "", null);
  const [, there = issuer] = written.issuer ?? [];
  const [, id] = written.client_id ?? [];
  const [, uri] = written.redirect_uri ?? [];
  const [, secret] = written.client_secret ?? [];
  const client = clients.find(({ client_id }) => client_id === id);
  const ofClient =
    client === undefined
      ? []
      : [
          ...(uri === undefined || client.redirect_uris.includes(uri)
            ? []
            : [`the redirect URI ${uri}, which ${client.client_id} does not have`]),
          ...(secret === undefined || typeof client.client_secret !== "string" || client.client_secret === secret
            ? []
            : [`another secret than ${client.client_id} has`]),
        ];
  const stale = [
    ...(there === issuer ? [] : [`the issuer ${there}, and this server is ${issuer}`]),
    ...(id === undefined || client !== undefined ? [] : [`the client ${id}, which is not registered here`]),
    ...ofClient,
  ];
  if (stale.length === 0) return null;
  const more = client === undefined || ofClient.length === 0 ? [] : ["--client", client.client_id];
  return {
    detail: `${envFile} names ${stale.join("; ")}`,
    fix: { text: "Bring it up to date", command: ["idp", "env", "--write", envFile, ...more] },
  };
}
