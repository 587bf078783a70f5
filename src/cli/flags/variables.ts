import { InvalidArgumentError, type AnyCommand as Command, type Option } from "../commander.ts";
import { OperationError } from "../../core/base/errors.ts";
import { isCollected } from "./flag-values.ts";

/**
 * `IDP_<FLAG>` sets a flag of `start`, because containers get only an environment. The flag itself wins. The `env` of commander
 * would turn a boolean on whatever the value, and has no lists.
 */

const variableOf = (option: Option): string => `IDP_${option.name().replaceAll("-", "_").toUpperCase()}`;

/** The values of a repeatable flag, with commas between them. The text of a fixture file is one value. */
export const valuesOf = (text: string): readonly string[] =>
  text.trimStart().startsWith("{") ? [text] : text.split(",").map((value) => value.trim());

/** Kubernetes sets `IDP_PORT=tcp://10.96.0.12:4370` in the pods of a namespace with a service called idp. */
export const isServiceLink = (name: string, text: string): boolean => name === "IDP_PORT" && text.includes("://");

/** Sets flags that were not typed from the environment. @throws {OperationError} usage */
export function takeVariables(command: Command, env: NodeJS.ProcessEnv): void {
  for (const option of command.options) {
    const [flag, name] = [option.attributeName(), variableOf(option)];
    const text = env[name] ?? "";
    if (text === "" || isServiceLink(name, text) || command.getOptionValueSource(flag) !== undefined) continue;
    const value = option.isBoolean() || option.negate ? isOn(name, text) : read(name, text, option);
    // A flag that is on by itself has a twin that turns it off.
    const hasTwin = command.options.some((other) => other.negate && other.attributeName() === flag);
    if (value !== false || (hasTwin && !option.negate))
      command.setOptionValueWithSource(flag, option.negate ? value !== true : value, "env");
  }
}

function isOn(name: string, text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new OperationError("usage", `${name} is "${text}"`, { hint: "It must be true, 1, false or 0" });
}

function read(name: string, text: string, option: Option): unknown {
  const parse = (before: unknown, value: string): unknown => option.parseArg?.(value, before) ?? value;
  try {
    return (isCollected(option) ? valuesOf(text) : [text]).reduce(parse, undefined);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new OperationError("usage", `${name} is "${text}"`, { hint: error.message, cause: error });
  }
}
