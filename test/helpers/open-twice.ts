/** Stands in for `src/store/open.ts` in servers that tests start in their own process: `vitest.config.ts` says so. */
import { openStores as open, type OpenStoresOptions } from "../../src/store/open.ts";
import type { IssuerStores } from "../../src/store/issuer-stores.ts";
import { runTwice } from "./run-twice.ts";

export async function openStores(options: OpenStoresOptions): Promise<IssuerStores> {
  const stores = await open(options);
  return { ...stores, open: async (...which) => runTwice(await stores.open(...which)) };
}
