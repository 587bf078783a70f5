import { changesText } from "../output/changes.ts";
import { confirmed, notConfirmed, userOr } from "../input/ask.ts";
import { given, nameOr, readSecret, refuseName, requireChange, saved } from "../program/entry-flags.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { SetFields } from "../program/set-field.ts";
import { findTarget } from "../target/target.ts";
import { describeUser } from "./users.ts";
import { commandOn } from "../../core/hint.ts";

export interface UserFlags {
  readonly email?: string;
  readonly displayName?: string;
  readonly passwordStdin?: true;
  readonly status?: string;
  readonly set?: SetFields;
}

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

/** `idp users add` */
export async function addUser(cli: Invocation, name: string | undefined, flags: UserFlags): Promise<Outcome> {
  refuseName(flags.set, "username");
  const username = await nameOr(cli, name, "username", ["idp", "users", "add", "alice"]);
  const entry = { ...(await entryOf(cli, flags)), username };
  const target = await findTarget(cli);
  const user = await saved(target.call("users.add", { entry }));
  return answer(user, (_shown, style) => `Added ${describeUser(user, style)}`, { notes: [target.where] });
}

/** `idp users edit` */
export async function editUser(cli: Invocation, name: string | undefined, flags: UserFlags): Promise<Outcome> {
  const example = ["idp", "users", "edit", "alice", "--email", "alice@example.test"];
  const entry = await entryOf(cli, flags);
  requireChange(entry, commandOn(["idp", "users", "edit"], name ?? "alice", ["--display-name", "Another name"]));
  const target = await findTarget(cli);
  const username = await userOr(cli, target, name, example);
  const before = await target.call("users.show", { username });
  const user = await saved(target.call("users.edit", { username, entry }));
  const secrets = "password" in entry ? ["password"] : [];
  return answer(user, (_shown, style) => changesText(before.username, before, user, secrets, style), {
    notes: [target.where],
  });
}

/** `idp users remove` */
export async function removeUser(cli: Invocation, name: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const username = await userOr(cli, target, name, ["idp", "users", "remove", "alice"]);
  if (!(await confirmed(cli, `Remove ${username}, with their grants and sessions?`))) {
    throw notConfirmed(`${username} is not removed`);
  }
  await target.call("users.remove", { username });
  return answer({ removed: username }, ({ removed }) => `Removed ${removed}, with their grants and sessions.`, {
    notes: ["Every token of theirs answers 401 from now on.", target.where],
  });
}
