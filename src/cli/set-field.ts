import { InvalidArgumentError } from "commander";

/** The flag `--set field=value`: any field of a fixture. It is read before a command is loaded, so it needs nothing else. */

export type SetFields = Readonly<Record<string, unknown>>;

/** Secrets stand in no list of processes and in no history of a shell: they come from standard input. */
const fromInput: Readonly<Record<string, string>> = { password: "--password-stdin", client_secret: "--secret-stdin" };

/** JSON where it is some, else text. A number that JavaScript cannot hold to the digit, such as an id, is text. */
function valueOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "number" && String(value) !== text ? text : value;
  } catch {
    return text;
  }
}

/** Collects `--set field=value`. */
export function setField(given: string, before: SetFields = {}): SetFields {
  const at = given.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It is field=value, as in language=tr.");
  const field = given.slice(0, at);
  const flag = Object.hasOwn(fromInput, field) ? fromInput[field] : undefined;
  if (flag !== undefined) throw new InvalidArgumentError(`Secrets come from standard input: ${flag}.`);
  return { ...before, [field]: valueOf(given.slice(at + 1)) };
}
