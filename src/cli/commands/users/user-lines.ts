import type { UserView } from "../../../core/records/users/users.ts";
import { escapeLine, printableJson } from "../../output/escape.ts";
import type { Style } from "../../output/style.ts";
import { pairs } from "../../output/table.ts";
import { Option } from "../../commander.ts";

/** How a user is shown, the flag for the status, and the question before a ban. */

export const banQuestion = (who: string): string =>
  `Ban ${who}? Their sessions end and their grants are revoked permanently.`;

export const statusColor = (style: Style, status: string): ((text: string) => string) =>
  status === "active" ? style.green : status === "suspended" ? style.yellow : style.red;

/** The lines of one user. Characters that a terminal would act upon are escaped here, and only once in JSON. */
export function describeUser(shown: UserView, style: Style): string {
  const { username: name, displayName, status, id, email, emailVerified, hasPassword, ...rest } = shown;
  const others = Object.entries(rest).flatMap(([field, value]) => fieldLines(field, value));
  return [
    `${style.bold(escapeLine(name))}  ${escapeLine(displayName)}  ${statusColor(style, status)(status)}`,
    pairs(
      [
        ["id", id],
        ["email", email === null ? "none" : `${escapeLine(email)} (${emailVerified ? "verified" : "not verified"})`],
        ["password", hasPassword ? "set" : "none: signs in from the picker"],
        ...others,
      ],
      style,
    ),
  ].join("\n");
}

/** A field in one line, or with several values in a line for each. */
function fieldLines(field: string, value: unknown): readonly (readonly [name: string, line: string])[] {
  if (typeof value === "string") return [[field, escapeLine(value) || '""']];
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    return [[field, JSON.stringify(value)]];
  const lines = Array.isArray(value)
    ? value.map((item: unknown) => printableJson(item, 0))
    : Object.entries(value).map(([name, member]) => `${escapeLine(name)}: ${printableJson(member, 0)}`);
  return lines.map((line, index) => [index === 0 ? field : "", line]);
}

export const statusOption = (description: string) =>
  new Option("--status <status>", description).choices(["active", "suspended", "banned"]);
