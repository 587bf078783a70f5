import { isPlainWord, terminalWord } from "../../text/terminal.ts";

/** The next step after a refusal. */
export interface Hint {
  /** A sentence; in front of a command a label, without a colon: "To restore". Empty where the command says enough. */
  readonly text: string;
  /** The words of a command, unquoted: `["idp", "users", "restore", "carol"]`. */
  readonly command?: readonly string[];
  /** What of the text is true without the command too; absent: nothing, it is a label. */
  readonly sentence?: string;
  /** What the step lets in that was not let in before, where no command says it: "this issuer". */
  readonly letsIn?: string;
}

/** How a line is written, by whoever shows it. */
export interface Writing {
  /** @param words with the flags that name the data or the server */
  readonly command: (words: readonly string[]) => string;
  /** What stands in place of a command that nobody can run. */
  readonly sentence: (text: string) => string;
}

/**
 * Writes the words of a command as a line.
 * @param issuer the name of the issuer that it is for; absent or null: the first one
 * @param writing absent: for a shell here
 */
export type CommandLine = (words: readonly string[], issuer?: string | null, writing?: Writing) => string;

const endOfFlags = (words: readonly string[]): number => (words.includes("--") ? words.indexOf("--") : words.length);

/** The words of a command that may be flags: what follows `--` is a name. */
export const beforeNames = (words: readonly string[]): readonly string[] => words.slice(0, endOfFlags(words));

/** A command with more flags, which stand before `--`. */
export const withFlags = (words: readonly string[], flags: readonly string[]): readonly string[] => [
  ...beforeNames(words),
  ...flags,
  ...words.slice(endOfFlags(words)),
];

/** Quotes words for the shells of a platform. */
export const quotedLine = (words: readonly string[], platform: NodeJS.Platform = process.platform): string =>
  placeholders({ text: "", command: words }, (word) => terminalWord(word, platform) !== null)
    .command.map((word) => terminalWord(word, platform) ?? word)
    .join(" ");

/** For the shells of a platform. */
export const forShell = (platform?: NodeJS.Platform): Writing => ({
  command: (words) => quotedLine(words, platform),
  sentence: (text) => text,
});

/** Quotes words for a terminal here, and adds the issuer. */
export const plainCommandLine: CommandLine = (words, issuer = null, { command } = forShell()) =>
  command(issuer !== null && takesIssuer(words) ? withFlags(words, ["--issuer", issuer]) : words);

/** A word without what cannot be shown in a command: all of it, or the value of `name=value`. */
const placeholderFor = (word: string, name: string): string => `${/^[\w-]+=/.exec(word)?.[0] ?? ""}${name}`;

/** A hint whose command has placeholders for the words that cannot be shown in it. They stand beside it, in the text. */
function placeholders(
  { text, command }: Hint & { readonly command: readonly string[] },
  isShown: (word: string) => boolean,
): Hint & { readonly command: readonly string[] } {
  const values = [...new Set(command.filter((word) => !isShown(word)))];
  const nameOf = (word: string): string => (values[0] === word ? "VALUE" : `VALUE${values.indexOf(word) + 1}`);
  const valueOf = (word: string): string => word.slice(placeholderFor(word, "").length);
  return {
    text: [...values.map((word) => `${nameOf(word)} is ${valueOf(word)}`), ...(text === "" ? [] : [text])].join(". "),
    command: command.map((word) => (values.includes(word) ? placeholderFor(word, nameOf(word)) : word)),
  };
}

/** A hint for a page, whose reader has a shell that nobody knows. */
export const pageHint = (hint: Hint): Hint =>
  hint.command === undefined ? hint : placeholders({ ...hint, command: hint.command }, isPlainWord);

/** A hint for a terminal, most of whose words can be quoted. */
export const terminalHint = (hint: Hint, platform: NodeJS.Platform = process.platform): Hint =>
  hint.command === undefined
    ? hint
    : placeholders({ ...hint, command: hint.command }, (word) => terminalWord(word, platform) !== null);

/** Whether a command works on one issuer, and names none itself. */
export const takesIssuer = (words: readonly string[]): boolean =>
  words[0] === "idp" &&
  !["issuers", "start", "stop"].includes(words[1] ?? "") &&
  !beforeNames(words).includes("--issuer");

/** A hint as one line; a command ends it, without a period, to be copied. */
export function hintText(hint: Hint, line: CommandLine = plainCommandLine, platform?: NodeJS.Platform): string {
  const { text, command } = terminalHint(hint, platform);
  if (command === undefined) return text;
  return text === "" ? line(command) : `${text}: ${line(command)}`;
}

/** A hint with its texts as a function changes them. */
export const hintIn = ({ text, command, sentence, ...hint }: Hint, change: (text: string) => string): Hint => ({
  ...hint,
  text: change(text),
  ...(command !== undefined && { command: command.map(change) }),
  ...(sentence !== undefined && { sentence: change(sentence) }),
});

/** A hint in place of the sentence that it may be given as. */
export const hintOf = (hint: string | Hint): Hint => (typeof hint === "string" ? { text: hint } : hint);

/** The flag of a field: `--error-description`. */
export const flagOf = (field: string): string => `--${field.replaceAll("_", "-")}`;

/** A flag with a value of somebody else: one that looks like a flag itself is joined to it. */
export const flagWith = (flag: string, value: string): readonly string[] =>
  value.startsWith("-") ? [`${flag}=${value}`] : [flag, value];

/** Words for a record by its name. A name that looks like a flag stands last, behind `--`. */
export const commandOn = (
  command: readonly string[],
  name: string,
  flags: readonly string[] = [],
): readonly string[] => (name.startsWith("-") ? [...command, ...flags, "--", name] : [...command, name, ...flags]);
