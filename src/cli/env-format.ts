import { OperationError } from "../core/errors.ts";
import type { Format } from "./env-choices.ts";

/** Variables as the readers of each format take them: whatever stands in a value, it comes out as it went in. */

export type Variables = readonly (readonly [name: string, value: string])[];

/** What no reader of `.env` files and no shell takes for something else. */
const plain = /^[\w./:@%+,=-]+$/;

/**
 * A line of a `.env` file. Such files have no way to escape a quote, but three kinds of quotes: what stands between ' is taken as it
 * is by dotenv, `node --env-file`, Docker Compose and a shell that sources the file.
 */
function dotenvLine([name, value]: Variables[number]): string {
  if (plain.test(value)) return `${name}=${value}`;
  if (!value.includes("'")) return `${name}='${value}'`;
  if (!/["\\$`]/.test(value)) return `${name}="${value}"`;
  if (!value.includes("`")) return `${name}=\`${value}\``;
  throw new OperationError("refused", `the value of ${name} has every kind of quote, which no .env file can hold`, {
    hint: "Take another format: idp env --format shell, github or json",
  });
}

/** A value as one word of a shell (POSIX.1 Shell 2.2.2). */
export const shellWord = (value: string): string =>
  plain.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;

/** A line for `$GITHUB_ENV`; several for a value that has several. */
function githubLine([name, value]: Variables[number]): string {
  if (!/[\r\n]/.test(value)) return `${name}=${value}`;
  let mark = "idp_end";
  while (value.includes(mark)) mark += "_";
  return `${name}<<${mark}\n${value}\n${mark}`;
}

/** The variables as text, without a line break at its end. @throws {OperationError} refused, where a format cannot hold a value */
export function formatted(variables: Variables, format: Format): string {
  switch (format) {
    case "dotenv":
      return variables.map(dotenvLine).join("\n");
    case "shell":
      return variables.map(([name, value]) => `export ${name}=${shellWord(value)}`).join("\n");
    case "github":
      return variables.map(githubLine).join("\n");
    case "json":
      return JSON.stringify(Object.fromEntries(variables), null, 2);
  }
}
