import type { Request, Response } from "express";
import { hasLoginClient } from "../../core/clients/clients.ts";
import { pageHint, placeholderFor, type Hint } from "../../core/hint.ts";
import { isAdvice } from "../../core/ledger/advice.ts";
import { isPlainWord } from "../../text/terminal.ts";
import { routeOf } from "../route.ts";
import { isBehindScenes, note, type Web } from "../web.ts";

/**
 * Commands on pages. Their reader's shell is not known, and values may come from anybody, so a command has only words that every shell reads as
 * they are. Others are placeholders, and stand beside it.
 */
interface PageCommand {
  readonly command: string;
  /** The values of the placeholders, in words; null: it has none. */
  readonly beside: string | null;
}

/** A quoted word of a line. */
const quoted = /(?<=^| )(?:[\w-]+=)?(?:'[^']*'|\\'|"[^"]*")+(?= |$)/g;

/** The text of a quoted word. */
const unquoted = (word: string): string =>
  word.replaceAll(/'([^']*)'|\\(')|"([^"]*)"/g, (_, ...parts: (string | undefined)[]) => parts.slice(0, 3).join(""));

/** A line that was written for a terminal of this machine, as a page shows it. */
export function pageLine(line: string): PageCommand {
  const values: string[] = [];
  const command = line.replaceAll(quoted, (word) => {
    const text = unquoted(word);
    if (isPlainWord(text)) return text;
    if (!values.includes(text)) values.push(text);
    const at = values.indexOf(text);
    return placeholderFor(text, at === 0 ? "VALUE" : `VALUE${at + 1}`);
  });
  const said = values.map((text, at) => {
    const name = at === 0 ? "VALUE" : `VALUE${at + 1}`;
    return `${name} is ${text.slice(placeholderFor(text, "").length)}`;
  });
  return { command, beside: said.length === 0 ? null : said.join(". ") };
}

/** A command of ours. */
export function pageCommand(web: Web, words: readonly string[], issuer?: string | null): PageCommand {
  const { text, command = [] } = pageHint({ text: "", command: words });
  // The flags that name the server may have a path of the operator.
  const { command: line, beside } = pageLine(web.commandLine(command, issuer));
  return { command: line, beside: text === "" ? beside : text };
}

/** A hint in words, and its command. */
export interface FixParts {
  readonly advice: string | null;
  readonly fix: string | null;
}

/** A hint for a page that says both apart. */
export function fixParts(web: Web, hint: Hint | null): FixParts {
  const { text, command } = hint ?? { text: "" };
  if (command === undefined) return { advice: text === "" ? null : text, fix: null };
  const line = web.commandLine(command);
  if (isAdvice(line)) return { advice: text === "" ? line : `${text}: ${line}`, fix: null };
  const shown = pageCommand(web, command);
  const advice = [shown.beside, text].filter((part) => part !== null && part !== "").join(". ");
  return { advice: advice === "" ? null : `${advice}:`, fix: shown.command };
}

/** A hint for a page, which shows the command, or else the sentence, in a box of its own. */
export function pageFix(web: Web, hint: Hint): FixParts {
  const { advice, fix } = fixParts(web, hint);
  return fix === null ? { advice: null, fix: advice ?? "" } : { advice, fix };
}

/** The command that signs in from a terminal; null without the client that it uses. */
export async function loginCommand(web: Web): Promise<string | null> {
  return (await hasLoginClient(web.ctx)) ? pageCommand(web, ["idp", "login"]).command : null;
}

/**
 * The command that opens a refused sign-in in the inspector; without a sign-in, the inspector. Null for a request that the ledger does not
 * hold. A page names only the command: the path of the inspector keeps its cookie from other servers, so no page for apps or users has it.
 */
export function inspectCommand(web: Web, req: Request, res: Response): string | null {
  const [path = ""] = req.originalUrl.split("?");
  if (isBehindScenes(web, path)) return null;
  const request = { endpoint: routeOf(res).name, url: req.originalUrl, body: req.body as unknown };
  const flow = web.ctx.ledger.flowOf(request);
  if (flow !== null) note(res, { flow });
  return pageCommand(web, ["idp", "open", ...(flow === null ? [] : [flow])]).command;
}
