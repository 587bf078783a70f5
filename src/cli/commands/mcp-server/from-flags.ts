import type { Declare } from "../../act.ts";
import { type AnyCommand, Command, CommanderError } from "../../commander.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";
import { isCollected } from "../../flags/flag-values.ts";

/** Tools that take flags of a command: their fields are made from its declaration. */

/** A command as it declares itself. */
export function declared(declare: Declare, name: string): AnyCommand {
  const command = new Command(name);
  const act = () => () => Promise.resolve();
  declare(command, { act: act, program: command, words: [], env: {} });
  return command;
}

type Flag = AnyCommand["options"][number];

const fieldOf = ({ long }: Flag): string => (long ?? "").replace(/^--/, "").replaceAll("-", "_");

/** The flags that a tool has, out of all that the command has. */
export const flagsOf = (command: AnyCommand, names: readonly string[]): readonly Flag[] =>
  command.options.filter((flag) => names.includes(fieldOf(flag)));

function schemaOf(flag: Flag): JsonObject {
  const { description, argChoices, required, flags } = flag;
  if (!required) return { type: "boolean", description };
  const type = flags.includes("<seconds>") ? ["integer", "string"] : "string";
  const one = { type, ...(argChoices !== undefined && { enum: argChoices }) };
  return isCollected(flag) ? { type: "array", items: one, description } : { ...one, description };
}

/** JSON Schema of an object with a field for each flag. @param more other fields */
export const fieldsOf = (flags: readonly Flag[], more: Readonly<Record<string, JsonObject>> = {}): JsonObject => ({
  type: "object",
  properties: { ...more, ...Object.fromEntries(flags.map((flag) => [fieldOf(flag), schemaOf(flag)])) },
  additionalProperties: false,
});

/** The words of a command line for what a tool was given: each value is joined to its flag, so that none can be a flag. @throws {OperationError} usage */
export function wordsOf(flags: readonly Flag[], input: JsonObject): readonly string[] {
  return Object.entries(input).flatMap(([name, value]) => {
    const flag = flags.find((one) => fieldOf(one) === name);
    const { long = "" } = flag ?? {};
    if (flag === undefined || isObject(value) || value === null) {
      throw new OperationError(
        "usage",
        flag === undefined ? `this tool has no field "${name}"` : `${name} is not a text`,
        {
          hint: `Its fields are ${flags.map(fieldOf).join(", ")}.`,
        },
      );
    }
    if (!flag.required) return value === true ? [long] : [];
    return (Array.isArray(value) ? value : [value]).map((one) => `${long}=${String(one)}`);
  });
}

/** What the command makes of its words. @throws {OperationError} usage */
export function parsed(command: AnyCommand, words: readonly string[]): unknown {
  command
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined, outputError: () => undefined });
  try {
    command.parse([...words], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    throw new OperationError("usage", error.message.replace(/^error: /, ""), {});
  }
  return command.opts();
}
