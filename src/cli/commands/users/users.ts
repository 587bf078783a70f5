/*
 * cli/commands/users: the `users` commands. users.ts lists and shows, status.ts suspends, bans and restores, edit.ts adds, edits and removes.
 */
import { badgesOf, groupsOf, rolesOf, tellingRoles, type UserView } from "../../../core/records/users/users.ts";
import { escapeLine } from "../../output/escape.ts";
import { userOr } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { table } from "../../output/table.ts";
import { findTarget } from "../../target/target.ts";
import { hintText } from "../../../core/base/hint.ts";
import { commandLine } from "../../output/command-line.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { failureOf } from "../../failure.ts";
import { describeUser, statusColor, statusOption } from "./user-lines.ts";
import type { Declare } from "../../act.ts";
import { declareUserChanges } from "./edit.ts";
import { declareUserStatus } from "./status.ts";
import { examples, type Command, type FlagsOf } from "../../commander.ts";

const withListFlags = (command: Command) =>
  command
    .option("--role <role>", "only those with this role in claims.roles, or where Keycloak's tokens have roles")
    .option("--group <group>", "only those with this group in claims.groups")
    .addOption(statusOption("only those with this status"));
type ListFlags = FlagsOf<typeof withListFlags>;

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
async function listUsers(cli: Invocation, flags: ListFlags): Promise<Outcome> {
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
async function showUser(cli: Invocation, username: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const user = await target.call("users.show", {
    username: await userOr(cli, target, username, ["idp", "users", "show", "USERNAME"]),
  });
  return answer(user, (_shown, style) => describeUser(user, style));
}

/** `idp users otp` prints the one-time code that can be typed now; exit 6 if none is left. */
async function showCode(cli: Invocation, username: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const user = await userOr(cli, target, username, ["idp", "users", "otp", "USERNAME"]);
  const shown = await target.call("users.otp", { username: user });
  const { code, expiresIn, availableIn } = shown;
  const failure =
    code === null
      ? failureOf(
          new OperationError("refused", `no one-time code of ${user} is left; the next one comes in ${availableIn} s`),
        )
      : null;
  return answer(shown, () => code ?? "", {
    notes: expiresIn === null ? [] : [`It is accepted once, for ${expiresIn} s.`],
    failure,
  });
}

/** Declares the commands of `idp users`. */
export const declareUsers: Declare = (users, context) => {
  const { act } = context;
  withListFlags(users.command("list", { isDefault: true }))
    .description("list users")
    .addHelpText("after", examples("idp users list", "idp users list --role admin --json | jq -r '.[].username'"))
    .action(act(listUsers));
  users
    .command("show")
    .description("show one user")
    .argument("[username]")
    .addHelpText("after", examples("idp users show alice", "idp users show alice --json | jq -r .id"))
    .action(act(showUser));
  users
    .command("otp")
    .description("print the one-time code of a user")
    .argument("[username]")
    .addHelpText("after", examples("idp users otp alice", "idp users otp alice --json | jq -r .uri"))
    .action(act(showCode));
  declareUserChanges(users, context);
  declareUserStatus(users, context);
};
