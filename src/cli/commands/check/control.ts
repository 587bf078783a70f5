import type { Control } from "../../../check/client/control.ts";
import { Problem } from "../../../client/check.ts";
import { RemoteError } from "../../../core/errors.ts";
import type { OperationName } from "../../../core/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../../../core/operations/table.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import { faultsOn } from "./opened.ts";
import { addOwnUser } from "./account/own-user.ts";
import { logoutTokenOf } from "./logout-token.ts";

/** Connects the cases of `idp check client` to a server. @param admits the claims by which the app may admit somebody; absent: those of the user */
export function controlOf(
  server: Server,
  about: Pick<Control, "issuer" | "client" | "isConfidential" | "redirectUris" | "logoutUri" | "user" | "isOwn">,
  admits?: Readonly<Record<string, unknown>>,
): Control & { readonly close: () => Promise<void> } {
  const { client, user } = about;
  const faults = faultsOn(server);
  let usualLife: number | null = null;
  const added: Promise<string>[] = [];
  let ended = false;
  const call = <N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> =>
    callServer(server, name, input);

  return {
    ...about,
    async addFault(fault) {
      try {
        return await faults.add(fault);
      } catch (error) {
        if (error instanceof RemoteError) throw new Problem(error.problems[0]?.message ?? error.message);
        throw error;
      }
    },
    async addUser() {
      if (ended) throw new Error("the check has ended");
      const adding = addOwnUser(server, admits ?? (await call("users.show", { username: user })).claims);
      added.push(adding);
      return adding;
    },
    async secret() {
      try {
        const { client_secret: secret } = await call("clients.show", { client_id: client, secrets: true });
        return typeof secret === "string" ? secret : null;
      } catch (error) {
        if (error instanceof RemoteError) return null;
        throw error;
      }
    },
    removeFaults: () => faults.removeAll(),
    async close() {
      ended = true;
      await faults.close();
      // What cannot be removed keeps nothing else.
      for (const one of added) await one.then((username) => call("users.remove", { username })).catch(() => undefined);
    },
    async requests(since) {
      const all = await call("requests.list", since === undefined ? {} : { since });
      return all.filter((record) => record.client === client || record.client === null);
    },
    async issueCode(input) {
      try {
        return (await call("issue.code", { user, client, ...input })).code;
      } catch (error) {
        if (error instanceof RemoteError) return null;
        throw error;
      }
    },
    async endSession({ sid }) {
      const { notices } = await call("sessions.end", { id: sid });
      const missed = notices.find((notice) => notice.client === client && !notice.ok);
      return missed?.detail ?? null;
    },
    logoutToken: (session, change) => logoutTokenOf(server, about, session, change),
    async revoke() {
      await call("revoke", { user, client });
    },
    async expire(what) {
      await call("expire", { user, client, access: true, refresh: what === "all" });
    },
    async rotateKeys() {
      await call("keys.rotate", {});
    },
    async setTokenLife(seconds) {
      usualLife ??= (await call("issue.tokens", { user, client })).expires_in;
      await call("seed", { settings: { access_token_ttl: seconds ?? usualLife } });
    },
  };
}
