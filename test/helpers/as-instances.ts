import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";
import type { OperationName } from "../../src/core/admin/operations/routes.ts";
import { issuerMethods } from "../../src/issuer-methods.ts";
import { newDatabase } from "./postgres.ts";
import { startRoundRobin } from "./round-robin.ts";
import { testInstances } from "./runs.ts";

/** Below an issuer: the requests of the control API, and the inspector. */
const readsLedger = /\/_idp\/(?:api\/requests|[\w-]{22}\/)/;
const ledgerOperations = new Set<OperationName>(["requests.list", "requests.show", "inspector.open", "status"]);

/** What a test holds as one server. @param options neither `data` nor `tls` */
export async function createInstances(options: IdpOptions): Promise<Idp> {
  const store = await newDatabase();
  const balancer = await startRoundRobin();
  const all: Idp[] = [];
  for (let count = 0; count < testInstances; count += 1) {
    const { adminToken = all[0]?.adminToken } = options;
    const token = adminToken === undefined ? {} : { adminToken };
    all.push(await createIdp({ issuer: balancer.url, ...options, ...token, port: 0, store }));
  }
  balancer.servers = all.map(({ port }) => port);
  let turn = 0;
  const next = (): Idp => {
    const idp = all[(turn += 1) % all.length];
    if (idp === undefined) throw new Error("there are no instances");
    return idp;
  };
  // Instances write the requests that they answered within half a second, and `expect` waits for that.
  const settle = (): Promise<unknown> => next().call("expect", { endpoint: "any" });
  balancer.before = (path) => (readsLedger.test(path) ? settle() : null);
  const call = (async (name, input) => {
    if (ledgerOperations.has(name)) await settle();
    return next().call(name, input);
  }) as Idp["call"];
  const own: Partial<Idp> = {
    ...issuerMethods(() => next().issuer, call),
    port: balancer.port,
    app: balancer.listener,
    close: async () => {
      await Promise.all(all.map((idp) => idp.close()));
    },
  };
  return new Proxy(next(), {
    get: (_first, name): unknown => Reflect.get(name in own ? own : next(), name),
  });
}
