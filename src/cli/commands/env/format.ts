import { OperationError } from "../../../core/base/errors.ts";
import { isPlainWord, quoteWord } from "../../../text/terminal.ts";
import type { Format } from "./choices.ts";

/** Variables in each format, so that its reader gets every value unchanged. */

export type Variables = readonly (readonly [name: string, value: string])[];

/**
 * A line of a `.env` file. Such files cannot escape a quote. dotenv, `node --env-file`, Docker Compose and a shell that sources the file read
 * the text between ' as it is, and that between " unless it has one of " \\ $ `. A shell runs what is between backticks, so these quote nothing.
 */
function dotenvLine([name, value]: Variables[number]): string {
  if (isPlainWord(value)) return `${name}=${value}`;
  if (!value.includes("'")) return `${name}='${value}'`;
  if (!/["\\$`]/.test(value)) return `${name}="${value}"`;
  const rule = 'has a single quote and one of " \\ $ `, which no .env file can hold for every reader';
  throw new OperationError("refused", `the value of ${name} ${rule}`, {
    hint: { text: "Use another format, such as shell, github or json", command: ["idp", "env", "--format", "shell"] },
  });
}

/** A line for `$GITHUB_ENV`; several lines for a value that has several. */
function githubLine([name, value]: Variables[number]): string {
  if (!/[\r\n]/.test(value)) return `${name}=${value}`;
  let mark = "idp_end";
  while (value.includes(mark)) mark += "_";
  return `${name}<<${mark}\n${value}\n${mark}`;
}

/** The variables as text, without a line break at its end. @throws {OperationError} refused if the format cannot hold a value */
export function formatted(variables: Variables, format: Format): string {
  switch (format) {
    case "dotenv":
      return variables.map(dotenvLine).join("\n");
    case "shell":
      return variables.map(([name, value]) => `export ${name}=${quoteWord(value)}`).join("\n");
    case "github":
      return variables.map(githubLine).join("\n");
    case "json":
      return JSON.stringify(Object.fromEntries(variables), null, 2);
  }
}
