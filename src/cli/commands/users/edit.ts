import { OperationError } from "../../../core/base/errors.ts";
import { rights } from "../../../core/base/fixture-files/explain.ts";
import { confirmed, notConfirmed, userOr, usersOr } from "../../input/ask.ts";
import { withNames } from "../../input/example.ts";
import { escapeLine } from "../../output/escape.ts";
import { given, nameOr, readSecret, refuseName, renaming, requireChange } from "../../flags/entry-flags.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome, changesText } from "../../output/print.ts";
import { findTarget } from "../../target/target.ts";
import { commandOn } from "../../../core/base/hint.ts";
import { setClaim, setOption, type SetFields } from "../../flags/set-field.ts";
import type { Declare } from "../../act.ts";
import { banQuestion, describeUser, statusOption } from "./user-lines.ts";
import { examples, type Command, type Flags, type FlagsOf, type None } from "../../commander.ts";

const userFields = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  command
    .option("--email <address>", "the e-mail address")
    .option("--display-name <name>", "the display name")
    .option("--password-stdin", "read the password from standard input")
    .addOption(statusOption("the status"))
    .option("--add-claim <name=value>", "set one claim and keep the others; repeatable", setClaim)
    .addOption(setOption());
type UserFlags = FlagsOf<typeof userFields<[], None, None>>;

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

const entryOf = async (cli: Invocation, flags: UserFlags): Promise<SetFields> =>
  given({
    ...flags.set,
    ...given({
      email: flags.email,
      displayName: flags.displayName,
      status: flags.status,
      password: await readSecret(cli, flags.passwordStdin, "password"),
    }),
  });

/** Rights and `claims.NAME` are not fields: claims are set in one. @param command this command with other flags */
async function refuseClaims(
  cli: Invocation,
  { set = {}, addClaim }: UserFlags,
  command: (flags: readonly string[]) => readonly string[],
): Promise<void> {
  if (addClaim !== undefined && set["claims"] !== undefined)
    throw new OperationError("usage", "give --add-claim or --set claims, not both");
  const field = Object.keys(set).find((name) => rights.includes(name) || name.startsWith("claims."));
  if (field === undefined) return;
  const claim = field.replace(/^claims\./, "");
  const claimCommand = command(["--add-claim", `${claim}=${valueText(set[field])}`]);
  throw new OperationError("usage", `--set ${field} is an unknown key. Put it in the claims of the user`, {
    hint: { text: "Set the claim", command: await withNames(cli, claimCommand) },
  });
}

/** `idp users add` */
async function addUser(cli: Invocation, name: string | undefined, flags: UserFlags): Promise<Outcome> {
  refuseName(flags.set, "username");
  await refuseClaims(cli, flags, (other) => commandOn(["idp", "users", "add"], name ?? "erin", other));
  const username = await nameOr(cli, name, "username", ["idp", "users", "add", "erin"]);
  const { addClaim: claims } = flags;
  const entry = { ...(await entryOf(cli, flags)), ...given({ claims }), username };
  const target = await findTarget(cli);
  const user = await target.call("users.add", entry);
  return answer(user, (_shown, style) => `Added ${describeUser(user, style)}`, { notes: [target.where] });
}

/** `idp users edit` */
async function editUser(cli: Invocation, name: string | undefined, flags: UserFlags): Promise<Outcome> {
  const example = ["idp", "users", "edit", "USERNAME", "--display-name", "Another name"];
  const { addClaim } = flags;
  await refuseClaims(cli, flags, (other) => commandOn(["idp", "users", "edit"], name ?? "USERNAME", other));
  const fields = await entryOf(cli, flags);
  await requireChange(
    cli,
    { ...fields, ...addClaim },
    commandOn(["idp", "users", "edit"], name ?? "USERNAME", ["--display-name", "Another name"]),
  );
  const target = await findTarget(cli);
  const username = await userOr(cli, target, name, example);
  const before = await target.call("users.show", { username });
  const entry = addClaim === undefined ? fields : { ...fields, claims: { ...before.claims, ...addClaim } };
  if (entry["status"] === "banned" && before.status !== "banned" && !(await confirmed(cli, banQuestion(username))))
    throw notConfirmed(`${username} is not banned`);
  const user = await target.call("users.edit", { ...renaming(entry, "username"), username });
  const secrets = ["password", "otp_secret"].filter((field) => field in entry);
  return answer(user, (_shown, style) => changesText(before.username, before, user, secrets, style), {
    notes: [target.where],
  });
}

/** `idp users remove`. The document has the name for one name, and a list for several. */
async function removeUsers(cli: Invocation, given: readonly string[]): Promise<Outcome> {
  const target = await findTarget(cli);
  const usernames = await usersOr(cli, target, given, ["idp", "users", "remove", "USERNAME"]);
  const who = usernames.join(", ");
  const find = () => Promise.all(usernames.map((username) => target.call("users.show", { username })));
  if (!(await confirmed(cli, `Remove ${who}, with their grants and sessions?`, { find }))) {
    throw notConfirmed(`${who} ${usernames.length === 1 ? "is" : "are"} not removed`);
  }
  for (const username of usernames) await target.call("users.remove", { username });
  const removed = given.length > 1 ? usernames : who;
  return answer({ removed }, () => `Removed ${escapeLine(who)}, with their grants and sessions.`, {
    notes: ["Their tokens get 401 from now on.", target.where],
  });
}

/** Declares the commands that add, edit and remove users. */
export const declareUserChanges: Declare = (users, { act }) => {
  userFields(users.command("add"))
    .description("add a user; only a username is required")
    .argument("[username]")
    .addHelpText(
      "after",
      examples(
        "idp users add erin --email erin@example.com --set language=tr",
        "idp users add erin --add-claim 'roles=[\"admin\"]'",
        'printf %s "$PASSWORD" | idp users add erin --password-stdin',
      ),
    )
    .action(act(addUser));
  userFields(users.command("edit"))
    .description("change fields of a user")
    .argument("[username]")
    .addHelpText(
      "after",
      examples(
        "idp users edit alice --display-name 'Alice Adams'",
        "idp users edit alice --add-claim 'roles=[\"admin\"]'",
      ),
    )
    .action(act(editUser));
  users
    .command("remove")
    .description("remove users, with their grants and sessions")
    .argument("[username...]")
    .addHelpText("after", examples("idp users remove bob", "idp users remove bob carol --yes --json"))
    .action(act(removeUsers));
};
