import { Problem } from "../../client/check.ts";
import { RemoteError } from "../../core/base/errors.ts";
import type { OperationName } from "../../core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../../core/admin/operations/table.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { Opened } from "./opened.ts";

/** The issuer of a check, on a server of ours or a running one: its operations by name, and what every check asks of it. */

/** A fault, as `POST faults` takes it. */
export type Fault = Readonly<Record<string, unknown>> & { readonly endpoint: string };

/** A request of the ledger. */
export type Recorded = OperationOutput<"requests.list">[number];

/** @param opened removes the faults that are left, however the check ends */
export function idpAt(server: Server, opened: Opened) {
  const faults = new Set<string>();

  const call = <N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> =>
    callServer(server, name, input);

  /** The same: what is refused is a reason why the case says nothing. @throws {Problem} */
  async function tried<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N>> {
    try {
      return await call(name, input);
    } catch (error) {
      if (error instanceof RemoteError) throw new Problem(error.problems[0]?.message ?? error.message);
      throw error;
    }
  }

  /** The same, where the server may refuse it or not have it: then null. */
  async function ifAny<N extends OperationName>(name: N, input: OperationInput<N>): Promise<OperationOutput<N> | null> {
    try {
      return await call(name, input);
    } catch (error) {
      if (error instanceof RemoteError) return null;
      throw error;
    }
  }

  async function removeFault(id: string): Promise<void> {
    faults.delete(id);
    // A fault that was used up is already gone.
    await call("faults.remove", { id }).catch((error: unknown) => {
      if (!(error instanceof RemoteError) || error.code !== "not_found") throw error;
    });
  }

  const requests = (since?: string): Promise<readonly Recorded[]> =>
    call("requests.list", { parts: true, ...(since !== undefined && { since }) });

  return {
    ...{ call, tried, ifAny },
    /** @returns its id @throws {Problem} no response to this client can have it */
    addFault: (fault: Fault): Promise<string> =>
      opened.adds(
        async () => {
          const { id } = await tried("faults.add", fault as OperationInput<"faults.add">);
          faults.add(id);
          return id;
        },
        async (id) => {
          if (faults.has(id)) await removeFault(id);
        },
      ),
    /** Removes those that are left. */
    removeFaults: async (): Promise<void> => {
      for (const id of faults) await removeFault(id);
    },
    /** The requests of a client, and those that name no client. @param since the id of a request: only later ones */
    requestsOf: async (client: string, since?: string): Promise<readonly Recorded[]> =>
      (await requests(since)).filter((record) => record.client === client || record.client === null),
    /** The id of the latest request. */
    mark: async (): Promise<string | undefined> => (await requests()).at(-1)?.id,
    /**
     * The later requests that may ask about a token.
     * @param client on a server of others, only those that name it count; null: all do
     */
    asked: async (client: string | null, since?: string): Promise<readonly Recorded[]> => {
      const asks = (await requests(since)).filter(
        ({ endpoint }) => endpoint === "introspect" || endpoint === "userinfo",
      );
      return client === null ? asks : asks.filter((record) => JSON.stringify(record).includes(client));
    },
  };
}
