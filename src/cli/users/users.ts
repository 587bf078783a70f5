/*
 * cli/users: the `users` commands. users.ts shows and changes the status, edit.ts adds, edits and removes.
 */
import { rolesOf } from "../../core/users/roles.ts";
import type { StatusChange, UserView } from "../../core/users/users.ts";
import { escapeLine, printableJson } from "../output/escape.ts";
import { confirmed, notConfirmed, userOr } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { pairs, table } from "../output/table.ts";
import { findTarget } from "../target/target.ts";
import { count } from "../output/words.ts";
import { hintText, type Hint } from "../../core/hint.ts";
import { commandLine } from "../output/command-line.ts";

const statusColour = (style: Style, status: string): ((text: string) => string) =>
  status === "active" ? style.green : status === "suspended" ? style.yellow : style.red;

export interface ListFlags {
  readonly role?: string;
  readonly status?: string;
}

/** The sentence for an empty list. */
function noUsers(cli: Invocation, { role }: ListFlags, all: readonly UserView[]): string {
  if (all.length === 0) {
    return hintText({ text: "No users yet. Add one", command: ["idp", "users", "add", "alice"] }, commandLine(cli));
  }
  if (role === undefined || all.some((user) => rolesOf(user).includes(role))) return "No user matches.";
  const roles = [...new Set(all.flatMap(rolesOf))].sort();
  const known =
    roles.length === 0 ? "Roles come from claims.roles, and no user has any." : `Roles: ${roles.join(", ")}`;
  return escapeLine(`No user has the role "${role}". ${known}`);
}

/** `idp users list` */
export async function listUsers(cli: Invocation, flags: ListFlags): Promise<Outcome> {
  const { role, status } = flags;
  const all = await (await findTarget(cli)).call("users.list", {});
  const users = all.filter(
    (user) => (role === undefined || rolesOf(user).includes(role)) && (status === undefined || user.status === status),
  );
  const withRoles = users.some((user) => rolesOf(user).length > 0);
  return answer(users, (shown, style) =>
    shown.length === 0
      ? noUsers(cli, flags, all)
      : table(
          [
            { title: "USERNAME", value: (user) => user.username },
            { title: "EMAIL", value: (user) => user.email },
            {
              title: "STATUS",
              value: (user) => user.status,
              colour: (text, user) => statusColour(style, user.status)(text),
            },
            ...(withRoles ? [{ title: "ROLES", value: (user: UserView) => rolesOf(user).join(" ") }] : []),
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
    username: await userOr(cli, target, username, ["idp", "users", "show", "alice"]),
  });
  return answer(user, (_shown, style) => describeUser(user, style));
}

/** The lines of one user. What a terminal would act upon is escaped here, in JSON once. */
export function describeUser(shown: UserView, style: Style): string {
  const { username: name, displayName, status, id, email, emailVerified, hasPassword, ...rest } = shown;
  const others = Object.entries(rest).flatMap(([field, value]) => fieldLines(field, value));
  return [
    `${style.bold(escapeLine(name))}  ${escapeLine(displayName)}  ${statusColour(style, status)(status)}`,
    pairs(
      [
        ["id", id],
        ["email", `${escapeLine(email)} (${emailVerified ? "verified" : "not verified"})`],
        ["password", hasPassword ? "set" : "none: signs in from the picker"],
        ...others,
      ],
      style,
    ),
  ].join("\n");
}

/** A field in one line; one that holds several values in a line each. */
function fieldLines(field: string, value: unknown): readonly (readonly [name: string, line: string])[] {
  if (typeof value === "string") return [[field, escapeLine(value) || '""']];
  if (typeof value !== "object" || value === null || Object.keys(value).length === 0)
    return [[field, JSON.stringify(value)]];
  const lines = Array.isArray(value)
    ? value.map((item: unknown) => printableJson(item, 0))
    : Object.entries(value).map(([name, member]) => `${escapeLine(name)}: ${printableJson(member, 0)}`);
  return lines.map((line, index) => [index === 0 ? field : "", line]);
}

const questions = {
  suspend: null,
  restore: null,
  ban: "Their sessions end and their grants are revoked for good.",
} as const;

/** `idp users suspend|ban|restore` */
export async function changeStatus(
  cli: Invocation,
  change: keyof typeof questions,
  given: string | undefined,
): Promise<Outcome> {
  const target = await findTarget(cli);
  const username = await userOr(cli, target, given, ["idp", "users", change, "alice"]);
  const question = questions[change];
  if (question !== null && !(await confirmed(cli, `Ban ${username}? ${question}`))) {
    throw notConfirmed(`${username} is not banned`);
  }
  const changed = await target.call(`users.${change}`, { username });
  return answer(changed, (shown) => said[change](shown), {
    notes: [...next[change](changed), target.where],
  });
}

const said: Record<keyof typeof questions, (user: StatusChange) => string> = {
  suspend: ({ username, previousStatus }) =>
    previousStatus === "suspended"
      ? `${username} was suspended already.`
      : `${username} is suspended: no sign-in, and every token answers 403.`,
  ban: ({ username, sessionsEnded, grantsRevoked }) =>
    `${username} is banned. Ended ${count(sessionsEnded, "session")}, revoked ${count(grantsRevoked, "grant")}.`,
  restore: ({ username, previousStatus }) =>
    previousStatus === "active" ? `${username} was active already.` : `${username} is active again.`,
};

const next: Record<keyof typeof questions, (user: StatusChange) => readonly (string | Hint)[]> = {
  suspend: ({ username }) => [{ text: "Undo", command: ["idp", "users", "restore", username] }],
  ban: ({ username }) => [
    "Grants and tokens do not come back.",
    { text: "To let them sign in again", command: ["idp", "users", "restore", username] },
  ],
  restore: ({ previousStatus }) => (previousStatus === "banned" ? ["Grants that the ban revoked stay revoked."] : []),
};
