import type { Command } from "commander";
import { redacted } from "../../repeated.ts";
import { quoteWord } from "../../shell-word.ts";
import type { GlobalFlags, Invocation } from "../invocation.ts";

/** Commands in hints, as they have to be typed where the hint is read. */

/**
 * Which data or server the flags of a command line name. What the environment names, it names for the next command too.
 * @returns `--data .idp-2`; null: none
 */
export function typedTarget(program: Command): string | null {
  const typed = (name: keyof GlobalFlags, flag: string): string[] =>
    program.getOptionValueSource(name) === "cli"
      ? [`${flag} ${quoteWord(String(program.opts<GlobalFlags>()[name]))}`]
      : [];
  const server = typed("url", "--url");
  // A server goes before a folder.
  const all = [
    ...(server.length > 0 ? server : typed("data", "--data")),
    ...typed("adminTokenFile", "--admin-token-file"),
  ];
  return all.length === 0 ? null : redacted(all.join(" "));
}

/** Commands that take no data and no server, or name them themselves. */
const alone = /^idp (?:start|init|exec|help|completion|token (?:decode|verify))\b|\s--(?:data|url|help|issuer)\b/;

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
