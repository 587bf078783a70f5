/** Stands in for `src/store/open.ts` in servers that tests start in their own process: `vitest.config.ts` says so. */
import { openStore as open, type OpenStoreOptions } from "../../src/store/open.ts";
import type { JsonStore } from "../../src/store/json/store.ts";
import { runTwice } from "./run-twice.ts";

export const openStore = async (options: OpenStoreOptions): Promise<JsonStore> => runTwice(await open(options));
