import type { Hint } from "../../../core/base/hint.ts";
import type { StatusChange } from "../../../core/admin/edit/users.ts";
import { confirmed, notConfirmed, usersOr } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { escapeDeep } from "../../output/escape.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { count } from "../../output/words.ts";
import { findTarget } from "../../target/target.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";
import { leaveUser } from "../scim.ts";
import { banQuestion } from "./user-lines.ts";

const questions = {
  suspend: null,
  restore: null,
  ban: banQuestion,
} as const;

/** `idp users suspend|ban|restore`. The document is that user for one name, and a list for several. */
async function changeStatus(
  cli: Invocation,
  change: keyof typeof questions,
  given: readonly string[],
): Promise<Outcome> {
  const target = await findTarget(cli);
  const usernames = await usersOr(cli, target, given, ["idp", "users", change, "USERNAME"]);
  const question = questions[change];
  const who = usernames.join(", ");
  const find = () => Promise.all(usernames.map((username) => target.call("users.show", { username })));
  if (question !== null && !(await confirmed(cli, question(who), { find }))) {
    throw notConfirmed(`${who} ${usernames.length === 1 ? "is" : "are"} not banned`);
  }
  const changed: StatusChange[] = [];
  for (const username of usernames) changed.push(await target.call(`users.${change}`, { username }));
  const document = given.length > 1 ? changed : changed[0];
  return answer(document, () => changed.map((user) => said[change](escapeDeep(user))).join("\n"), {
    notes: [...next[change](changed), target.where],
  });
}

const said: Record<keyof typeof questions, (user: StatusChange) => string> = {
  suspend: ({ username, previousStatus }) =>
    previousStatus === "suspended"
      ? `${username} was suspended already.`
      : `${username} is suspended: sign-in is refused, and tokens get 403.`,
  ban: ({ username, sessionsEnded, grantsRevoked }) =>
    `${username} is banned. Ended ${count(sessionsEnded, "session")}, revoked ${count(grantsRevoked, "grant")}.`,
  restore: ({ username, previousStatus }) =>
    previousStatus === "active" ? `${username} was active already.` : `${username} is active again.`,
};

const restore = (users: readonly StatusChange[]): readonly string[] => [
  ...["idp", "users", "restore"],
  ...users.map(({ username }) => username),
];

const next: Record<keyof typeof questions, (users: readonly StatusChange[]) => readonly (string | Hint)[]> = {
  suspend: (users) => [{ text: "Undo", command: restore(users) }],
  ban: (users) => [
    "Grants and tokens do not come back.",
    { text: "To let them sign in again", command: restore(users) },
  ],
  restore: (users) =>
    users.some(({ previousStatus }) => previousStatus === "banned")
      ? ["Grants that the ban revoked stay revoked."]
      : [],
};

/** Name, description and examples of each command that changes the status of users. */
const statusCommands = [
  [
    "suspend",
    "suspend users: no sign-in, and tokens get 403, until restored",
    "idp users suspend bob",
    "idp users restore bob",
  ],
  [
    "ban",
    "ban users: suspend them, end their sessions, revoke their grants permanently",
    "idp users ban bob",
    "idp users restore bob",
  ],
  [
    "restore",
    "make suspended or banned users active again",
    "idp users restore bob",
    "idp users restore bob carol --json",
  ],
] as const;

/** Declares the commands that change the status of users. */
export const declareUserStatus: Declare = (users, { act }) => {
  for (const [name, description, ...lines] of statusCommands) {
    users
      .command(name)
      .description(description)
      .argument("[username...]")
      .addHelpText("after", examples(...lines))
      .action(act((cli, usernames: readonly string[]) => changeStatus(cli, name, usernames)));
  }
  users
    .command("leave")
    .description("suspend a user who leaves, end their sessions, and tell every app")
    .argument("<username>", "a name that idp users list shows")
    .addHelpText("after", examples("idp users leave bob", "idp users leave bob --json | jq '.signals[]'"))
    .action(act(leaveUser));
};
