import type { Request, Response } from "express";
import { hasLoginClient } from "../../core/records/clients/clients.ts";
import { pageHint, type Hint } from "../../core/base/hint.ts";
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

/** Words as they are, without the flags that name a server. */
export function plainPageCommand(words: readonly string[]): PageCommand {
  const { text, command = [] } = pageHint({ text: "", command: words });
  return { command: command.join(" "), beside: text === "" ? null : text };
}

/** A command of ours, or the sentence that stands in place of it. The flags that name the server may have a path of the operator. */
function written(
  web: Web,
  words: readonly string[],
  issuer?: string | null,
): PageCommand | { readonly sentence: string } {
  const shown: { as?: ReturnType<typeof written> } = {};
  web.commandLine(words, issuer, {
    command: (all) => {
      const as = plainPageCommand(all);
      shown.as = as;
      return as.command;
    },
    sentence: (sentence) => {
      shown.as = { sentence };
      return sentence;
    },
  });
  if (shown.as !== undefined) return shown.as;
  // A function of the program that has this server writes as it likes: it gets what is safe to show.
  const { text, command = [] } = pageHint({ text: "", command: words });
  return { command: web.commandLine(command, issuer), beside: text === "" ? null : text };
}

export function pageCommand(web: Web, words: readonly string[], issuer?: string | null): PageCommand {
  const shown = written(web, words, issuer);
  return "sentence" in shown ? { command: shown.sentence, beside: null } : shown;
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
  const shown = written(web, command);
  if ("sentence" in shown) return { advice: text === "" ? shown.sentence : `${text}: ${shown.sentence}`, fix: null };
  const advice = [shown.beside, text].filter((part) => part !== null && part !== "").join(". ");
  return { advice: advice === "" ? null : `${advice}:`, fix: shown.command };
}

/** A hint for a page, which shows the command, or else the sentence, in a box of its own. */
export interface PageFix extends FixParts {
  /** The command without what names the server here, for programs that read the page; null: a sentence. */
  readonly command: string | null;
}

export function pageFix(web: Web, hint: Hint): PageFix {
  const { advice, fix } = fixParts(web, hint);
  if (fix === null) return { advice: null, fix: advice ?? "", command: null };
  return { advice, fix, command: plainPageCommand(hint.command ?? []).command };
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
