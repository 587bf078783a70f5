import { OperationError } from "../../core/base/errors.ts";
import { askSecret, askText, needed } from "../input/ask.ts";
import { withNames } from "../input/example.ts";
import { renamed } from "../../core/admin/operations/route.ts";
import type { Invocation } from "../invocation.ts";
import type { SetFields } from "./set-field.ts";
import { readAll } from "../input/read.ts";

/** What the commands that add and edit users and clients share. */

/** A field that is also the argument of a command is its new value. */
export const renaming = (fields: SetFields, argument: string): SetFields =>
  fields[argument] === undefined ? fields : { ...fields, [renamed(argument)]: fields[argument] };

/** Only the fields that were given. */
export const given = (fields: SetFields): SetFields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** Reads a secret from standard input, without the line break at its end. On a terminal it asks for it, and does not show it. */
export async function readSecret(cli: Invocation, wanted: true | undefined, what: string): Promise<string | undefined> {
  if (wanted === undefined) return undefined;
  if (cli.interactive) return askSecret(cli, `The ${what}`);
  const text = cli.stdin.isTTY ? "" : (await readAll(cli.stdin)).replace(/\r?\n$/, "");
  if (text !== "") return text;
  throw new OperationError("usage", `there is no ${what} on standard input`, {
    hint: `Pipe it in. Put this before the command: printf %s "$${what.toUpperCase()}" |`,
  });
}

/** The name of a new record: given, or asked for on a terminal. @param example the words of a command that names it */
export async function nameOr(
  cli: Invocation,
  name: string | undefined,
  what: string,
  example: readonly string[],
): Promise<string> {
  if (name !== undefined) return name;
  if (cli.interactive) {
    return askText(cli, `The ${what}`, { problem: (text) => (text.trim() === "" ? "It needs one." : null) });
  }
  throw needed(`the ${what}`, { text: "Give it", command: example });
}

/** Refuses an edit that changes nothing. @param example with USERNAME or CLIENT_ID for a name that was not given @throws {OperationError} usage */
export async function requireChange(cli: Invocation, entry: SetFields, example: readonly string[]): Promise<void> {
  if (Object.keys(entry).length > 0) return;
  throw new OperationError("usage", "there is nothing to change", {
    hint: { text: "For example", command: await withNames(cli, example) },
  });
}

/** Refuses `--set` for the name, which is the argument. @throws {OperationError} usage */
export function refuseName(set: SetFields | undefined, field: string): void {
  if (set?.[field] === undefined) return;
  throw new OperationError("usage", `--set ${field} is not needed: the argument is the ${field}`);
}
