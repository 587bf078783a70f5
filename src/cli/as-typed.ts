import { redacted } from "../repeated.ts";
import { quoteWord } from "../shell-word.ts";
import type { Invocation } from "./invocation.ts";

/** Commands in hints, as they have to be typed where the hint is read. */

/**
 * Which data or server the flags of a command line name. What the environment names, it names for the next command too.
 * @param words what was typed after `idp`
 * @returns `--data .idp-2`; null: none
 */
export function typedTarget(words: readonly string[]): string | null {
  const typed = new Map<string, string>();
  for (const [at, word] of words.entries()) {
    if (word === "--") break;
    const [, flag, value = words[at + 1]] = /^(--(?:data|url|admin-token-file))(?:=(.*))?$/.exec(word) ?? [];
    if (flag !== undefined && value !== undefined) typed.set(flag, `${flag} ${quoteWord(value)}`);
  }
  // A server goes before a folder.
  if (typed.has("--url")) typed.delete("--data");
  return typed.size === 0 ? null : redacted([...typed.values()].join(" "));
}

/** Commands that take no data and no server, or name them themselves. */
const alone =
  /^idp (?:start|init|exec|help|completion|token (?:decode|verify))\b|\s--(?:data|url|help|issuer)\b|\.\.\.|…/;

/** A sentence of a hint: its command is at its end, alone or behind a colon. */
function sentenceAsTyped({ target, env }: Pick<Invocation, "target" | "env">, sentence: string): string {
  const at = sentence.startsWith("idp ") ? 0 : sentence.search(/(?<=: )idp /);
  if (at < 0) return sentence;
  const [, own = "", rest = ""] = /^(.*?)( -- .*| \| .*| {2,}\(.*|\.)?$/.exec(sentence.slice(at)) ?? [];
  const where = target === null || alone.test(own) ? "" : ` ${target}`;
  return `${sentence.slice(0, at)}${env.npm_command === "exec" ? "npx " : ""}${own}${where}${rest}`;
}

/** A line of a hint whose commands work on the same data as the one that was typed, and are found by the same way: `npx` has put `idp` on no path. */
export const asTyped = (cli: Pick<Invocation, "target" | "env">, line: string): string =>
  line
    .split(/(?<=\.) (?=\p{Lu})/u)
    .map((sentence) => sentenceAsTyped(cli, sentence))
    .join(" ");
