import type { ReadTx, Tx } from "../../../store/store.ts";
import { OperationError } from "../../base/errors.ts";
import { presets } from "../../base/layout/presets.ts";
import { durationOf } from "../../../text/time.ts";
import type { FixtureSettings } from "./schema.ts";
import { defaultSettings, settingRows, type Settings } from "./table.ts";

/**
 * Settings come from four places: the defaults, those of a vendor (`endpoints: auth0`) and of `mcp`, the fixtures (kept with the data), and the
 * flags of `start`, each winning over those before.
 */

/** What MCP asks of an authorization server beside dynamic registration: it names clients by documents, and its APIs verify tokens with the keys. */
const ofMcp: Partial<Settings> = { client_metadata_documents: true, access_token_alg: "RS256" };

/** Settings that take back what `mcp` is for: the field, and why. */
const againstMcp = [
  ["refresh_rotation", "off", "refresh tokens of public clients have to rotate (OAuth 2.1 4.3.1)"],
  ["access_token_alg", "HS256", "MCP servers verify access tokens with the published keys"],
] as const;

/** The settings that contradict `mcp`; no defaults are needed. */
export const problemsWithMcp = (
  settings: Readonly<Partial<Record<keyof Settings, unknown>>>,
): readonly { readonly field: keyof Settings; readonly message: string }[] =>
  againstMcp.flatMap(([field, value, why]) =>
    settings.mcp === true && (settings[field] === value || (value === "off" && settings[field] === false))
      ? [{ field, message: `"${value}" does not go with mcp: ${why}` }]
      : [],
  );

/** @throws {OperationError} usage for settings of fixtures and flags that contradict each other */
export function refuseContradictions(settings: Settings): void {
  const [problem] = problemsWithMcp(settings);
  if (problem === undefined) return;
  throw new OperationError("usage", `the setting ${problem.field} ${problem.message}`, {
    hint: `Leave out ${problem.field}, in the fixtures and as a flag`,
  });
}

/** The settings in force. @param flags those of the command line or of `createIdp` */
export function effectiveSettings(fixtures: Partial<Settings>, flags: Partial<Settings>): Settings {
  const given = { ...fixtures, ...flags };
  const ofVendor = typeof given.endpoints === "string" ? presets[given.endpoints].settings : {};
  return { ...defaultSettings, ...ofVendor, ...(given.mcp === true && ofMcp), ...given };
}

/** Settings as the data keeps them: durations in seconds, `on` and `off`. */
export function normalizeSettings(given: FixtureSettings): Partial<Settings> {
  const named: Record<string, unknown> = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  );
  for (const [name, { form }] of settingRows) {
    const value = named[name];
    if (form.kind === "seconds" && typeof value === "string") named[name] = durationOf(value);
    if (form.kind === "on-off" && typeof value === "boolean") named[name] = value ? "on" : "off";
  }
  return named;
}

/** The settings that fixtures gave the data. */
export function storedSettings(tx: ReadTx): Partial<Settings> {
  return tx.get("meta", "settings")?.value ?? {};
}

export const storeSettings = (tx: Tx, settings: Partial<Settings>): void =>
  tx.put("meta", { id: "settings", value: settings });
