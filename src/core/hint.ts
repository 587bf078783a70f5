import { quoteWord } from "../text/shell-word.ts";

/** The next step after a refusal. */
export interface Hint {
  /** A sentence; in front of a command a label, without a colon: "To restore". Empty where the command says enough. */
  readonly text: string;
  /** The words of a command, unquoted: `["idp", "users", "restore", "carol"]`. */
  readonly command?: readonly string[];
}

/** Writes the words of a command as a line for a shell. @param issuer the name of the issuer that it is for; absent or null: the first one */
export type CommandLine = (words: readonly string[], issuer?: string | null) => string;

/** Quotes words for a POSIX shell, and adds the issuer. */
export const plainCommandLine: CommandLine = (words, issuer = null) => {
  const end = words.includes("--") ? words.indexOf("--") : words.length;
  const of = issuer !== null && takesIssuer(words) ? ["--issuer", issuer] : [];
  return [...words.slice(0, end), ...of, ...words.slice(end)].map(quoteWord).join(" ");
};

/**
 * For a server that is gone when its evidence is read: what a command on its data does can then be done in the fixtures or the test only.
 * `open` is for the pages, which are read while it runs.
 */
export const commandLineOfTest: CommandLine = (words, issuer = null) => {
  const line = plainCommandLine(words, issuer);
  const [program, command = ""] = words;
  return program !== "idp" || ["open", "start"].includes(command)
    ? line
    : `${line.slice("idp ".length)} (in the fixtures or the test)`;
};

/** Whether a command works on one issuer, and names none itself. */
export const takesIssuer = (words: readonly string[]): boolean =>
  words[0] === "idp" && !["issuers", "start", "stop"].includes(words[1] ?? "") && !words.includes("--issuer");

/** A hint as one line; a command ends it, without a period, to be copied. */
export function hintText({ text, command }: Hint, line: CommandLine = plainCommandLine): string {
  if (command === undefined) return text;
  return text === "" ? line(command) : `${text}: ${line(command)}`;
}

/** A hint in place of the sentence that it may be given as. */
export const hintOf = (hint: string | Hint): Hint => (typeof hint === "string" ? { text: hint } : hint);

/** Words for a record by its name. A name that looks like a flag stands last, behind `--`. */
export const commandOn = (
  command: readonly string[],
  name: string,
  flags: readonly string[] = [],
): readonly string[] => (name.startsWith("-") ? [...command, ...flags, "--", name] : [...command, name, ...flags]);
