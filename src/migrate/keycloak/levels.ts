import { singleFactor } from "../../core/records/step-up/proofs.ts";
import { isObject } from "../../text/json.ts";
import { noteLoss, numberOf, textOf, unusable, type PlacedValue, type Draft } from "../draft.ts";
import type { SourceRecord } from "../entry.ts";
import { jsonIn } from "./mappers.ts";
import { settingsSchema } from "../../core/admin/settings/schema.ts";

/** Levels of authentication of a Keycloak realm and its clients (`acr.loa.map`): values of `acr`, and the factors that meet each. */

const factorsOf = (level: number): readonly string[] => (level === 1 ? ["pwd"] : ["pwd", "otp"]);

const assumed =
  "level 1 is taken as the password, and every higher one as the password and a one-time code: write into settings.acr what your flows ask for; a user needs factors: [otp] to get there";

/** Adds the values of a map to the setting `acr`. There is one issuer, so the maps of clients count for all. */
export function readLevels(draft: Draft, attributes: SourceRecord): void {
  const [text, place] = attributes.carry("acr.loa.map");
  const levels = typeof text === "string" ? jsonIn(text) : text;
  if (levels === undefined || levels === null || levels === "") return;
  if (!isObject(levels)) {
    noteLoss(draft, place, "is not JSON with the level of each value");
    return;
  }
  const known = new Map(Object.entries((draft.settings["acr"] ?? {}) as Record<string, readonly string[]>));
  for (const [name, given] of Object.entries(levels)) {
    const level = numberOf(given);
    const problem = problemOf(draft, name, level, known);
    if (problem !== null) noteLoss(draft, place, `"${name}" ${problem}`);
    else if (level !== undefined) known.set(name, factorsOf(level));
  }
  if (known.size === 0) return;
  if (draft.settings["acr"] === undefined) noteLoss(draft, place, assumed);
  draft.settings["acr"] = Object.fromEntries(known);
}

function problemOf(
  draft: Draft,
  name: string,
  level: number | undefined,
  known: ReadonlyMap<string, readonly string[]>,
): string | null {
  if (level === undefined || !Number.isInteger(level) || level < 0) return "has no level that is a number";
  if (level === 0) return `is level 0, which every sign-in reaches: here that is ${singleFactor}`;
  const before = known.get(name);
  if (before !== undefined && before.length !== factorsOf(level).length)
    return `is another level elsewhere, which counts`;
  const [issue] =
    settingsSchema.shape.acr.safeParse(Object.fromEntries([[name, factorsOf(level)]])).error?.issues ?? [];
  return (
    unusable(draft, name) ??
    (issue === undefined ? null : "is not a value of acr here: ASCII without spaces and quotes")
  );
}

/** `default.acr.values`, which has `##` between two. */
export function defaultLevels(attributes: SourceRecord): PlacedValue {
  attributes.noteField("minimum.acr.value", "no client has a minimum here: the app asks for it with acr_values");
  return attributes.as("default.acr.values", (text) =>
    textOf(text)
      ?.split("##")
      .filter((value) => value !== ""),
  );
}
