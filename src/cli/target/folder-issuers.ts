import type { Context } from "../../core/context.ts";
import { applyTo } from "../../core/issuers/apply.ts";
import { brokenView, checkIssuerName, issuerExists, unknownIssuer, viewOf } from "../../core/issuers/issuer.ts";
import { addressOf, type Issuers } from "../../core/issuers/issuer-view.ts";
import { randomText } from "../../random.ts";
import { openIssuer } from "../../serve/issuer.ts";
import type { Store } from "../../store/store.ts";
import type { Stores } from "../../store/stores.ts";
import type { Invocation } from "../invocation.ts";
import { say } from "../output/print.ts";
import { fixturesOf } from "../program/server-flags.ts";

/**
 * The issuers of a data folder without a server. Each is open only while a command uses it.
 * @param of `first`: the address of the first issuer; `contextOn`: what operations on another one take
 */
export function issuersOf(
  cli: Invocation,
  stores: Stores,
  {
    first,
    contextOn,
  }: { readonly first: string; readonly contextOn: (store: Store, name: string) => Promise<Context> },
): Issuers {
  const issuers: Issuers = {
    isShared: false,
    list: async () => {
      const views = [];
      for (const name of [...(await stores.names())].sort()) views.push(await issuers.show(name));
      return views;
    },
    async show(name) {
      const names = await stores.names();
      if (!names.includes(name)) throw unknownIssuer(name, names);
      const address = addressOf(first, name);
      try {
        const store = await stores.open(name, { now: cli.now });
        try {
          const remembered = await store.read((tx) => tx.get("meta", "issuer")?.value);
          return await viewOf(name, { issuer: typeof remembered === "string" ? remembered : address, store });
        } finally {
          await store.close();
        }
      } catch (error) {
        return brokenView(name, address, error);
      }
    },
    async add(name, sources) {
      checkIssuerName(name);
      if (!(await stores.claim(name))) throw issuerExists(name);
      try {
        const issuer = await openIssuer(stores, {
          ...{ issuers, name, address: addressOf(first, name), fixtures: sources ?? fixturesOf(cli, {}).sources },
          isAsFirst: sources === undefined,
          ...{ now: cli.now, random: randomText, settings: {}, isShared: cli.store !== null, anyHost: false },
          log: (note) => say(cli, note),
        });
        try {
          await issuer.ctx.passwords.settle();
          await stores.confirm(name);
          return await viewOf(name, issuer.ctx);
        } finally {
          await issuer.close();
        }
      } catch (error) {
        await stores.remove(name);
        throw error;
      }
    },
    async apply(name, sources, how) {
      const store = await stores.open(name, { now: cli.now });
      try {
        await applyTo(await contextOn(store, name), sources, how);
      } finally {
        await store.close();
      }
    },
    async remove(name) {
      const names = await stores.names();
      if (!names.includes(name)) throw unknownIssuer(name, names);
      await stores.remove(name);
    },
    open: () => [],
  };
  return issuers;
}
