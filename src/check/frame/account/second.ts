import type { ClientView } from "../../../core/records/clients/admin.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { checkIssuer } from "../../../core/records/issuers/issuer-view.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import type { Host } from "../host.ts";
import { noClient, usualClient, type CheckPlace } from "../place.ts";
import type { Session } from "../check.ts";
import type { AccountFlags } from "./account-flags.ts";

/** The issuer of the app's other connection, on the same server. */

export interface SecondPlace {
  readonly server: Server;
  readonly issuer: string;
  readonly client: ClientView;
  /** The check started the server. */
  readonly isOurs: boolean;
  /** The environment in which the app gets its values. */
  readonly env: Readonly<Record<string, string>>;
}

/** @returns null without `--second-start` @throws {OperationError} not_found */
export async function secondPlace(
  { host, check, command }: Session,
  { server, issuer }: Pick<CheckPlace, "server" | "issuer">,
  { secondStart, secondIssuer }: AccountFlags,
): Promise<SecondPlace | null> {
  if (secondStart === undefined) return null;
  const isOurs = command !== null;
  const first = { ...server, url: issuer.replace(/\/i\/[\w-]+\/?$/, "") };
  const all = (await callServer(first, "issuers.list", {})).filter(
    (one) => one.issuer !== issuer && one.issuer !== first.url && !checkIssuer.test(one.name),
  );
  const known = all.map(({ name }) => name);
  const found = secondIssuer === undefined && all.length === 1 ? all[0] : all.find(({ name }) => name === secondIssuer);
  if (found === undefined) throw notFound(secondIssuer, known);
  const place = { ...server, url: found.issuer };
  const clients = await callServer(place, "clients.list", isOurs ? { secrets: true } : {});
  const client = usualClient(host, check, clients);
  if (client === undefined) throw noClient(check, undefined, clients);
  if (isOurs) await callServer(place, "seed", { settings: { login: "picker" } });
  const env = await (check.isSaml === true ? samlEnv(host, place, client) : oidcEnv(host, found, client));
  return { server: place, issuer: found.issuer, client, isOurs, env: Object.fromEntries(env) };
}

type Variables = readonly (readonly [name: string, value: string])[];

function oidcEnv({ valuesOf }: Host, found: Parameters<Host["valuesOf"]>[0], client: ClientView): Variables {
  const values = valuesOf(found, client);
  const names = { ISSUER: values.issuer, CLIENT_ID: values.client_id, CLIENT_SECRET: values.client_secret };
  return Object.entries({ ...names, REDIRECT_URI: values.redirect_uri }).flatMap(([name, value]) =>
    value === null ? [] : [[`OIDC_2_${name}`, value] as const],
  );
}

async function samlEnv({ samlVariables }: Host, place: Server, client: ClientView): Promise<Variables> {
  const variables = await samlVariables(client, () => callServer(place, "saml.show", {}));
  return variables.map(([name, value]) => [name.replace(/^SAML_/, "SAML_2_"), value] as const);
}

function notFound(wanted: string | undefined, known: readonly string[]): OperationError {
  const list = known.length === 0 ? "List it under issuers: in the fixtures" : `There are ${known.join(", ")}`;
  if (wanted !== undefined) return new OperationError("not_found", `there is no issuer ${wanted}`, { hint: list });
  return known.length === 0
    ? new OperationError("not_found", "--second-start needs another issuer, and the server has only one", {
        hint: list,
      })
    : new OperationError("not_found", "--second-start needs --second-issuer: the server has several other issuers", {
        hint: `${list}. Name one with --second-issuer NAME`,
      });
}
