import { OperationError } from "../../../../core/errors.ts";
import { checkIssuer } from "../../../../core/issuers/issuer-view.ts";
import { callServer, type Server } from "../../../../serve/remote.ts";
import { samlVariables, valuesOf } from "../../env/app-client.ts";
import type { ClientView } from "../../../../core/clients/admin.ts";
import type { AccountFlags } from "./account-flags.ts";
import type { CheckPlace } from "../place.ts";
import { noClient, noProvider, usualClient } from "../place.ts";
import type { Subject } from "../subject.ts";

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

/**
 * @param isOurs whether the check started the server
 * @param subject whose clients sign in by OpenID Connect, or by SAML
 * @returns null without `--second-start`
 * @throws {OperationError} not_found
 */
export async function secondPlace(
  { server, issuer }: Pick<CheckPlace, "server" | "issuer">,
  { secondStart, secondIssuer }: AccountFlags,
  isOurs: boolean,
  subject: Subject,
): Promise<SecondPlace | null> {
  if (secondStart === undefined) return null;
  const isSaml = subject.name === "sp";
  const first = { ...server, url: issuer.replace(/\/i\/[\w-]+\/?$/, "") };
  const all = (await callServer(first, "issuers.list", {})).filter(
    (one) => one.issuer !== issuer && one.issuer !== first.url && !checkIssuer.test(one.name),
  );
  const known = all.map(({ name }) => name);
  const found = secondIssuer === undefined && all.length === 1 ? all[0] : all.find(({ name }) => name === secondIssuer);
  if (found === undefined) throw notFound(secondIssuer, known);
  const place = { ...server, url: found.issuer };
  const clients = await callServer(place, "clients.list", isOurs ? { secrets: true } : {});
  const client = usualClient(clients, subject);
  if (client === undefined) throw isSaml ? noProvider() : noClient(undefined, clients);
  if (isOurs) await callServer(place, "seed", { settings: { login: "picker" } });
  const env = await (isSaml ? samlEnv(place, client) : oidcEnv(found, client));
  return { server: place, issuer: found.issuer, client, isOurs, env: Object.fromEntries(env) };
}

type Variables = readonly (readonly [name: string, value: string])[];

function oidcEnv(found: Parameters<typeof valuesOf>[0], client: ClientView): Variables {
  const values = valuesOf(found, client);
  const names = { ISSUER: values.issuer, CLIENT_ID: values.client_id, CLIENT_SECRET: values.client_secret };
  return Object.entries({ ...names, REDIRECT_URI: values.redirect_uri }).flatMap(([name, value]) =>
    value === null ? [] : [[`OIDC_2_${name}`, value] as const],
  );
}

async function samlEnv(place: Server, client: ClientView): Promise<Variables> {
  const variables = await samlVariables(client, () => callServer(place, "saml.show", {}));
  return variables.map(([name, value]) => [name.replace(/^SAML_/, "SAML_2_"), value] as const);
}

function notFound(wanted: string | undefined, known: readonly string[]): OperationError {
  const list = known.length === 0 ? "List one under issuers: in the fixtures" : `There are ${known.join(", ")}`;
  if (wanted !== undefined) return new OperationError("not_found", `there is no issuer ${wanted}`, { hint: list });
  return known.length === 0
    ? new OperationError("not_found", "--second-start: the server has one issuer", { hint: list })
    : new OperationError("not_found", "--second-start: the server has several other issuers", {
        hint: `${list}. Name one with --second-issuer NAME`,
      });
}
