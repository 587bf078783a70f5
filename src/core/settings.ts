import type { ReadTx, Tx } from "../store/store.ts";
import { defaultSettings, type Settings } from "./context.ts";

/** Settings come from three places: the defaults, the fixtures (kept with the data), and the flags of `start`, each winning over those before. */

/** The settings in force. @param flags those of the command line or of `createIdp` */
export const effectiveSettings = (fixtures: Partial<Settings>, flags: Partial<Settings>): Settings => ({
  ...defaultSettings,
  ...fixtures,
  ...flags,
});

/** The settings that fixtures gave the data. */
export function storedSettings(tx: ReadTx): Partial<Settings> {
  return tx.get("meta", "settings")?.value ?? {};
}

export const storeSettings = (tx: Tx, settings: Partial<Settings>): void =>
  tx.put("meta", { id: "settings", value: settings });
