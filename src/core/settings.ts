import type { ReadTx, Tx } from "../store/store.ts";
import { defaultSettings, type Settings } from "./context.ts";
import { presets } from "./layout/presets.ts";

/**
 * Settings come from four places: the defaults, those of a vendor (`endpoints: auth0`), the fixtures (kept with the data), and the flags of
 * `start`, each winning over those before.
 */

/** The settings in force. @param flags those of the command line or of `createIdp` */
export function effectiveSettings(fixtures: Partial<Settings>, flags: Partial<Settings>): Settings {
  const given = { ...fixtures, ...flags };
  const ofVendor = typeof given.endpoints === "string" ? presets[given.endpoints].settings : {};
  return { ...defaultSettings, ...ofVendor, ...given };
}

/** The settings that fixtures gave the data. */
export function storedSettings(tx: ReadTx): Partial<Settings> {
  return tx.get("meta", "settings")?.value ?? {};
}

export const storeSettings = (tx: Tx, settings: Partial<Settings>): void =>
  tx.put("meta", { id: "settings", value: settings });
