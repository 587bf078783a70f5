import { setTimeout as delay } from "node:timers/promises";
import { builtInScopes } from "../../../core/records/scopes/scopes.ts";
import { effectOf } from "../../../core/testing/controls/faults/fault-admin.ts";
import type { ReadTx } from "../../../store/store.ts";
import type { NameKind } from "../../input/name-kinds.ts";
import type { Candidate } from "./complete.ts";
import type { Invocation } from "../../invocation.ts";
import { folderOf, namesIn } from "../../../store/json/issuer-stores.ts";
import { findTarget, type Target } from "../../target/target.ts";

/** The names in the data, for completion: of the running server, of the shared store, or of the folder, which is read without the lock. */

/** How many users are read at most; a shell shows a few hundred. */
const maxNames = 1000;

/** How long to look for names, in milliseconds. */
const timeoutMs = 1000;

/** How many of the last requests are offered. */
const maxRequests = 50;

const fromTarget: Record<NameKind, (target: Target) => Promise<readonly Candidate[]>> = {
  username: async (target) =>
    (await target.call("users.list", { limit: maxNames })).map(({ username, email }) => ({
      value: username,
      description: email ?? "",
    })),
  client_id: async (target) => (await target.call("clients.list", {})).map(clientCandidate),
  grant_id: async (target) =>
    (await target.call("grants.list", {}))
      .filter(({ status }) => status === "active")
      .map(({ id, user, client, scope }) => ({ value: id, description: `${user} ${client}: ${scope}` })),
  session_id: async (target) =>
    (await target.call("sessions.list", {})).map(({ id, user }) => ({ value: id, description: user })),
  // A key that signs cannot be removed.
  kid: async (target) =>
    (await target.call("keys.list", {}))
      .filter(({ status }) => status === "retired")
      .map(({ kid, alg }) => ({ value: kid, description: alg })),
  fault_id: async (target) =>
    (await target.call("faults.list", {})).map((fault) => ({ value: fault.id, description: effectOf(fault) })),
  request_id: async (target) =>
    (await target.call("requests.list", {}))
      .slice(-maxRequests)
      .map(({ id, method, endpoint, status }) => ({ value: id, description: `${method} ${endpoint} ${status}` })),
  snapshot: async (target) => (await target.call("snapshots.list", {})).map(snapshotCandidate),
  issuer: async (target) =>
    (await target.call("issuers.list", {})).map(({ name, issuer }) => ({ value: name, description: issuer })),
  scopes: async (target) => (await target.call("scopes.list", {})).map(({ name }) => scopeCandidate(name)),
};

const fromRecords: Record<Exclude<NameKind, "issuer">, (tx: ReadTx) => Candidate[]> = {
  username: (tx) => [...tx.all("users")].map(({ username, email }) => ({ value: username, description: email ?? "" })),
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
  kid: (tx) =>
    [...tx.all("keys")]
      .filter(({ retiredAt }) => retiredAt !== null)
      .map(({ kid, alg }) => ({ value: kid, description: alg })),
  // Only the memory of a server has them.
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

/** The names of a kind; none where they cannot be read within a second. */
export const namesOf = (cli: Invocation, kind: NameKind): Promise<readonly Candidate[]> =>
  Promise.race([readNames(cli, kind).catch(() => []), delay(timeoutMs, [], { ref: false })]);

async function readNames(cli: Invocation, kind: NameKind): Promise<readonly Candidate[]> {
  const target = await findTarget(cli);
  if (target.server !== null || cli.store !== null) return fromTarget[kind](target);
  if (kind === "issuer") return namesIn(cli.data).map((name) => ({ value: name, description: "" }));
  const { peek } = await import("../../../store/json/load.ts");
  const data = await peek(folderOf(cli.data, cli.issuer), cli.now);
  return data === null ? [] : data.read(fromRecords[kind]);
}
