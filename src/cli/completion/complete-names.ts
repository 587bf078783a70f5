import { builtInScopes } from "../../core/scopes/scopes.ts";
import { effectOf } from "../../core/testing/faults/faults.ts";
import type { ReadTx } from "../../store/store.ts";
import type { Candidate, NameKind } from "./complete.ts";
import type { Invocation } from "../invocation.ts";
import { callServer, type Server } from "../target/remote.ts";
import { serverOfUrl } from "../target/server-of-url.ts";
import { findServer } from "../target/target.ts";

/** The names in the data, for completion: of the running server, or of the folder, which is read without its lock. */

/** So many users are looked at, of however many: a shell shows a few hundred at most. */
const enough = 1000;

/** Of the last requests. */
const mostRequests = 50;

const fromServer: Record<NameKind, (server: Server) => Promise<readonly Candidate[]>> = {
  username: async (server) =>
    (await callServer(server, "users.list", { limit: enough })).map(({ username, email }) => ({
      value: username,
      description: email,
    })),
  client_id: async (server) => (await callServer(server, "clients.list", {})).map(clientCandidate),
  grant_id: async (server) =>
    (await callServer(server, "grants.list", {}))
      .filter(({ status }) => status === "active")
      .map(({ id, user, client, scope }) => ({ value: id, description: `${user} ${client}: ${scope}` })),
  session_id: async (server) =>
    (await callServer(server, "sessions.list", {})).map(({ id, user }) => ({ value: id, description: user })),
  fault_id: async (server) =>
    (await callServer(server, "faults.list", {})).map((fault) => ({ value: fault.id, description: effectOf(fault) })),
  request_id: async (server) =>
    (await callServer(server, "requests.list", {}))
      .slice(-mostRequests)
      .map(({ id, method, endpoint, status }) => ({ value: id, description: `${method} ${endpoint} ${status}` })),
  snapshot: async (server) => (await callServer(server, "snapshots.list", {})).map(snapshotCandidate),
  scopes: async (server) => (await callServer(server, "scopes.list", {})).map(({ name }) => scopeCandidate(name)),
};

const fromRecords: Record<NameKind, (tx: ReadTx) => Candidate[]> = {
  username: (tx) => [...tx.all("users")].map(({ username, email }) => ({ value: username, description: email })),
  client_id: (tx) => [...tx.all("clients")].map(clientCandidate),
  grant_id: (tx) =>
    [...tx.all("grants")]
      .filter(({ status }) => status === "active")
      .map(({ id, userId, clientId, scopes }) => ({
        value: id,
        description: `${nameOf(tx, userId)} ${clientId}: ${scopes.join(" ")}`,
      })),
  session_id: (tx) =>
    [...tx.all("sessions")].map(({ sid, userId }) => ({ value: sid, description: nameOf(tx, userId) })),
  // They are in the memory of a server.
  fault_id: () => [],
  request_id: () => [],
  snapshot: (tx) => [...tx.all("snapshots")].map(snapshotCandidate),
  scopes: (tx) => [...builtInScopes, ...[...tx.all("scopes")].map(({ name }) => name)].map(scopeCandidate),
};

const scopeCandidate = (name: string): Candidate => ({ value: name, description: "" });

const snapshotCandidate = ({ name, savedAt }: { readonly name: string; readonly savedAt: string }): Candidate => ({
  value: name,
  description: `saved ${savedAt}`,
});

const clientCandidate = (client: { readonly client_id: string; readonly client_name?: unknown }): Candidate => ({
  value: client.client_id,
  description: typeof client.client_name === "string" ? client.client_name : "",
});

const nameOf = (tx: ReadTx, userId: string): string => tx.get("users", userId)?.username ?? userId;

/** Names of a kind. It may reject, for whatever reason there is. */
export async function namesOf(cli: Invocation, kind: NameKind): Promise<readonly Candidate[]> {
  const server = cli.url === null ? await findServer(cli) : serverOfUrl(cli, cli.url);
  if (server !== null) return fromServer[kind](server);
  const { peek } = await import("../../store/json/peek.ts");
  const data = await peek(cli.data, cli.now);
  return data === null ? [] : data.read(fromRecords[kind]);
}
