import { InvalidArgumentError, Option } from "../commander.ts";
import { NestingError, parseJson } from "../../text/json.ts";

/** The flags `--set field=value`, for any field of a fixture, and `--claim name=value`. They are read before a command is loaded. */

export type SetFields = Readonly<Record<string, unknown>>;

/** Secrets come from standard input, so that no process list and no shell history shows them. */
const fromInput: Readonly<Record<string, string>> = { password: "--password-stdin", client_secret: "--secret-stdin" };

/** JSON if it is valid, else text. A number that JavaScript cannot hold exactly, such as an id, is text. */
function valueOf(text: string): unknown {
  try {
    const value = parseJson(text);
    return typeof value === "number" && String(value) !== text ? text : value;
  } catch (error) {
    if (error instanceof NestingError) throw new InvalidArgumentError(`Its value is not read: ${error.message}.`);
    return text;
  }
}

/** @param form the expected form, with an example */
function namedValue(given: string, form: string): readonly [name: string, value: unknown] {
  const at = given.indexOf("=");
  if (at < 1) throw new InvalidArgumentError(`It must be ${form}.`);
  return [given.slice(0, at), valueOf(given.slice(at + 1))];
}

/** The only field that is a number. In every other, digits are text, as in `displayName=42`. */
const numeric = "default_max_age";

/** Collects `--set field=value`. */
function setField(given: string, before: SetFields = {}): SetFields {
  const [field, read] = namedValue(given, "field=value, as in language=tr");
  const flag = Object.hasOwn(fromInput, field) ? fromInput[field] : undefined;
  if (flag !== undefined) throw new InvalidArgumentError(`A secret must come from standard input: ${flag}.`);
  const value = typeof read === "number" && field !== numeric ? given.slice(field.length + 1) : read;
  return { ...before, [field]: value };
}

/** `--set` of the commands that add and edit. */
export const setOption = () =>
  new Option("--set <field=value>", "set any other fixture field, as JSON or text; repeatable").argParser(setField);

/** Collects `--claim name=value`. */
export function setClaim(given: string, before: SetFields = {}): SetFields {
  const [name, value] = namedValue(given, "name=value, as in tenant=acme or 'roles=[\"admin\"]'");
  return { ...before, [name]: value };
}
