/*
 * cli/commands/users: the `users` commands. users.ts lists and shows, status.ts suspends, bans and restores, edit.ts adds, edits and removes.
 */
import { badgesOf, groupsOf, rolesOf, tellingRoles } from "../../../core/users/roles.ts";
import type { UserView } from "../../../core/users/users.ts";
import { escapeLine, printableJson } from "../../output/escape.ts";
import { userOr } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { pairs, table } from "../../output/table.ts";
import { findTarget } from "../../target/target.ts";
import { hintText } from "../../../core/hint.ts";
import { commandLine } from "../../output/command-line.ts";

const statusColor = (style: Style, status: string): ((text: string) => string) =>
  status === "active" ? style.green : status === "suspended" ? style.yellow : style.red;

export interface ListFlags {
  readonly role?: string;
  readonly group?: string;
  readonly status?: string;
}

/** The sentence for an empty list. */
function noUsers(cli: Invocation, { role, group }: ListFlags, all: readonly UserView[]): string {
  if (all.length === 0) {
    return hintText({ text: "No users yet. Add one", command: ["idp", "users", "add", "erin"] }, commandLine(cli));
  }
  for (const [kind, wanted, of] of [
    ["role", role, rolesOf],
    ["group", group, groupsOf],
  ] as const) {
    if (wanted === undefined || all.some((user) => of(user).includes(wanted))) continue;
    const known = [...new Set(all.flatMap(of))].sort();
    const title = kind === "role" ? "Roles" : "Groups";
    const others =
      known.length === 0 ? `${title} come from claims.${kind}s, and no user has any.` : `${title}: ${known.join(", ")}`;
    return escapeLine(`No user has the ${kind} "${wanted}". ${others}`);
  }
  return "No user matches.";
}

/** `idp users list` */
export async function listUsers(cli: Invocation, flags: ListFlags): Promise<Outcome> {
  const { role, group, status } = flags;
  const all = await (await findTarget(cli)).call("users.list", {});
  const users = all.filter(
    (user) =>
      (role === undefined || rolesOf(user).includes(role)) &&
      (group === undefined || groupsOf(user).includes(group)) &&
      (status === undefined || user.status === status),
  );
  const withRoles = users.some((user) => tellingRoles(user).length > 0);
  const withBadges = users.some((user) => badgesOf(user).length > 0);
  return answer(users, (shown, style) =>
    shown.length === 0
      ? noUsers(cli, flags, all)
      : table(
          [
            { title: "USERNAME", value: (user) => user.username },
            { title: "EMAIL", value: (user) => user.email ?? "" },
            {
              title: "STATUS",
              value: (user) => user.status,
              color: (text, user) => statusColor(style, user.status)(text),
            },
            ...(withBadges
              ? [{ title: withRoles ? "ROLES" : "NOTE", value: (user: UserView) => badgesOf(user).join(" ") }]
              : []),
            { title: "NAME", value: (user) => user.displayName, shrinks: true },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** `idp users show` */
export async function showUser(cli: Invocation, username: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const user = await target.call("users.show", {
    username: await userOr(cli, target, username, ["idp", "users", "show", "USERNAME"]),
  });
  return answer(user, (_shown, style) => describeUser(user, style));
}

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
