import type { AnyCommand as Command } from "./commander.ts";
import { isObject } from "../text/json-object.ts";
import { problemText, type Problem } from "../core/errors.ts";
import type { Failure } from "./failure.ts";

/** Says what is wrong with the input of an operation in the words of the command that was typed: its flags and arguments. */

const camel = (name: string): string => name.replace(/[_-](\w)/g, (_match, letter: string) => letter.toUpperCase());

/** The flag or the argument that sets a field; null if there is none. */
function wordFor(command: Command, path: string): string | null {
  const field = /^[^.[]*/.exec(path)?.[0].replace(/^new_/, "") ?? "";
  if (field === "") return null;
  const { set: given } = command.opts();
  if (isObject(given) && Object.hasOwn(given, field)) return `--set ${path}`;
  // `client_name` is --name, `redirect_uris` is --redirect-uri, `password` is --password-stdin.
  const names = [field, field.replace(/^client_/, "")].flatMap((name) => [
    name,
    name.replace(/s$/, ""),
    `${name}_stdin`,
  ]);
  const option = command.options.find((one) => names.some((name) => one.attributeName() === camel(name)));
  if (option !== undefined) return option.long ?? null;
  const { registeredArguments: all } = command;
  const argument = all.find((one) => camel(one.name()) === camel(field)) ?? (all.length === 1 ? all[0] : undefined);
  const set = command.options.find(({ long }) => long === "--set");
  if (set !== undefined && argument?.name() !== field) return `--set ${path}`;
  return argument === undefined ? null : `<${argument.name()}>`;
}

function inWords(command: Command, { path, message, fields = [], ...rest }: Problem): Problem {
  const shown = fields.reduce(
    (text, field) => text.replace(new RegExp(`\\b${field}\\b`), wordFor(command, field) ?? field),
    message,
  );
  return { ...rest, path: wordFor(command, path) ?? path, message: shown };
}

/**
 * A failure with flags in place of fields.
 * @param typed `path`: the words of the command, `["idp", "faults", "add"]`; `json`: the problems stay as they are, for programs
 */
export function inFlags(
  failure: Failure,
  { command, path, json }: { readonly command: Command; readonly path: readonly string[]; readonly json: boolean },
): Failure {
  const { code, problems } = failure;
  const isInput = (code === "usage" || code === "conflict") && problems.every(({ file }) => file === undefined);
  if (!isInput || problems.length === 0) return failure;
  const all = problems.map((problem) => inWords(command, problem));
  const hint = { text: "See", command: [...path, "--help"] };
  const lines = all.map((one) => (one.path === "" ? `${path.slice(1).join(" ")} ${one.message}` : problemText(one)));
  if (json) return { ...failure, message: lines.join("; "), hint };
  if (lines.length === 1) return { ...failure, message: lines.join(""), hint, problems: [] };
  return { ...failure, message: `${all.length} values are wrong; nothing was changed`, hint, problems: all };
}
