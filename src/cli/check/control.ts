import type { Control } from "../../client/app-check/control.ts";
import type { OperationInput, OperationName, OperationOutput } from "../../core/operations/table.ts";
import { RemoteError } from "../failure.ts";
import { callServer, type Server } from "../target/remote.ts";

export function controlOf(
  server: Server,
  about: Pick<Control, "issuer" | "client" | "redirectUris" | "user" | "isOwn">,
): Control & { readonly close: () => Promise<void> } {
  const { client, user } = about;
  const faults = new Set<string>();
  let usualLife: number | null = null;
  let ended = false;
  /** The fault that is being added; the command may be interrupted meanwhile. */
  let adding: Promise<unknown> = Promise.resolve();
  const call = <N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> =>
    callServer(server, name, input);

  async function removeFaults(): Promise<void> {
    for (const id of faults) {
      faults.delete(id);
      // A fault that was used up is already gone.
      await call("faults.remove", { id }).catch((error: unknown) => {
        if (!(error instanceof RemoteError) || error.code !== "not_found") throw error;
      });
    }
  }

  return {
    ...about,
    async addFault(fault) {
      if (ended) throw new Error("the check has ended");
      const added = call("faults.add", { fault }).then(({ id }) => {
        faults.add(id);
        return id;
      });
      adding = added.catch(() => null);
      return added;
    },
    removeFaults,
    async close() {
      ended = true;
      await adding;
      await removeFaults();
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
    async revoke() {
      await call("revoke", { user, client });
    },
    async expire() {
      await call("expire", { user, client, access: true, refresh: true });
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
