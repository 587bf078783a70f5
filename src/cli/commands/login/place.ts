import type { OAuthClient } from "../../../client/client.ts";
import { OperationError, RemoteError } from "../../../core/base/errors.ts";
import { loginClient, loginGrantTypes, loopbackRedirectUri } from "../init/app-types.ts";
import { readSecret } from "../../flags/entry-flags.ts";
import type { Invocation } from "../../invocation.ts";
import { callServer, issuerAt, type Server } from "../../../serve/remote.ts";
import { checkUrl, serverOfUrl } from "../../target/server-of-url.ts";
import { findServer, noServer, startHint } from "../../target/target.ts";
import type { LoginFlags } from "./flags.ts";

/** Where a login goes, and as which client: a running idp server, which says what it knows about its client, or any provider. */

export interface LoginPlace {
  readonly issuer: string;
  /** Its control API; null if it is not an idp server, or its admin token is not known. */
  readonly server: Server | null;
  /** It is an idp server that was named by its address, and its admin token is not known. */
  readonly tokenMissing: boolean;
  readonly client: OAuthClient;
  /** What is registered; null if that is not known. */
  readonly registered: { readonly redirectUris: readonly string[]; readonly isPublic: boolean } | null;
}

/** How many milliseconds an idp server has to say which issuer it is. */
const timeoutMs = 5000;

/** @throws {OperationError} no_server if no issuer is named and no server runs; not_found for an unknown client */
export async function findPlace(cli: Invocation, flags: LoginFlags): Promise<LoginPlace> {
  const secret = (await readSecret(cli, flags.secretStdin, "secret")) ?? null;
  const { issuer, server } = await findIssuer(cli, flags.issuer);
  const given = { id: flags.client, secret, method: null };
  const tokenMissing = server === null && flags.issuer === undefined;
  if (server === null) return { issuer, server, tokenMissing, client: given, registered: null };
  const view = await clientOn(server, flags.client, secret === null);
  const { token_endpoint_auth_method: method, client_secret: known } = view;
  return {
    issuer,
    server,
    tokenMissing,
    client: {
      id: view.client_id,
      secret: secret ?? (typeof known === "string" && !view.public ? known : null),
      method: typeof method === "string" ? method : null,
    },
    registered: { redirectUris: view.redirect_uris, isPublic: view.public },
  };
}

async function findIssuer(cli: Invocation, wanted: string | undefined): Promise<Pick<LoginPlace, "issuer" | "server">> {
  const running = await runningServer(cli);
  const issuer = running === null ? null : await issuerAt(running.url, timeoutMs);
  if (wanted !== undefined) {
    return { issuer: wanted, server: issuer === wanted ? (running?.server ?? null) : null };
  }
  if (running !== null && issuer !== null) return { issuer, server: running.server };
  const more = "For another provider, add --issuer URL. ";
  if (running === null) throw await noServer(cli, "no server", more);
  throw new OperationError("no_server", `no idp server answers at ${running.url}`, {
    hint: await startHint(cli, more),
  });
}

/** The server of `--url`, whose admin token may not be known, or that of the data folder. */
async function runningServer(
  cli: Invocation,
): Promise<{ readonly url: string; readonly server: Server | null } | null> {
  if (cli.url === null) {
    const server = await findServer(cli);
    return server === null ? null : { url: server.url, server };
  }
  const known = cli.adminTokenFile !== null || cli.env.IDP_ADMIN_TOKEN !== undefined;
  return { url: checkUrl({ url: cli.url, env: cli.env }), server: known ? serverOfUrl(cli, cli.url) : null };
}

/** @param wantsSecret with its secret, if it has one: only an admin may read that */
async function clientOn(server: Server, client_id: string, wantsSecret: boolean) {
  try {
    const view = await callServer(server, "clients.show", { client_id });
    return view.public || !wantsSecret ? view : await callServer(server, "clients.show", { client_id, secrets: true });
  } catch (error) {
    if (!(error instanceof RemoteError) || error.code !== "not_found" || client_id !== loginClient) throw error;
    throw new OperationError("not_found", `there is no client "${loginClient}" for idp login`, {
      hint: {
        text: "Name another client with --client CLIENT_ID, or add this one",
        command: [
          ...["idp", "clients", "add", loginClient, "--public", "--redirect-uri", loopbackRedirectUri],
          ...["--set", `grant_types=${JSON.stringify(loginGrantTypes)}`],
        ],
      },
    });
  }
}
