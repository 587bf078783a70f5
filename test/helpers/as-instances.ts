import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";
import { newDatabase } from "./postgres.ts";
import { startRoundRobin } from "./round-robin.ts";
import { testInstances } from "./runs.ts";

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
  const own: Partial<Idp> = {
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
