import { existsSync } from "node:fs";
import { OperationError } from "../../../core/base/errors.ts";
import { findTokens, hasParts, type FoundToken } from "../../../core/protocol/tokens/read/decode.ts";
import { quoteWord } from "../../../text/terminal.ts";
import type { Invocation } from "../../invocation.ts";
import { readAll } from "../../input/read.ts";
import { commandLine } from "../../output/command-line.ts";

/** Where a command on tokens gets its token from. */

/** The argument of each command, in the help. */
export const tokenGiven = "a token, a token response, Bearer … or a SAML message; - for standard input";

/** A longer token fits neither a header nor a request of the control API. */
const maxCharacters = 65_536;

type Command = "decode" | "introspect" | "revoke" | "verify";

/** @throws {OperationError} usage where a file is named in place of the token in it */
function refuseFile(cli: Invocation, command: Command, argument: string): void {
  if (hasParts(argument) || !(/\.(?:json|jwt|txt)$/.test(argument) || existsSync(argument))) return;
  const line = commandLine(cli)(["idp", "token", command, "-"]);
  throw new OperationError("usage", `${argument} is the name of a file, not a token`, {
    hint: `To read the file: ${line} < ${quoteWord(argument)}`,
  });
}

/**
 * The given text: the argument; standard input for "-", or without an argument if it is not a terminal; else the answer to a question.
 * @throws {OperationError} usage if there is none
 */
export async function readText(cli: Invocation, command: Command, argument: string | undefined): Promise<string> {
  if (argument !== undefined && argument !== "-") refuseFile(cli, command, argument);
  const fromInput = argument === "-" || (argument === undefined && !cli.stdin.isTTY);
  const text = fromInput ? await readAll(cli.stdin) : (argument ?? (await askToken(cli)));
  if (text.trim() === "") {
    throw new OperationError("usage", "there is no token", {
      hint: "Give it as an argument, or use - for standard input.",
    });
  }
  return text;
}

/** Loaded only if somebody can be asked, so that decoding starts fast. */
const askToken = async (cli: Invocation): Promise<string> =>
  cli.interactive ? (await import("../../input/ask.ts")).askText(cli, "The token") : "";

/** The one given token; the member `prefer` of a token response. @throws {OperationError} usage, refused */
export async function readToken(
  cli: Invocation,
  command: Command,
  argument: string | undefined,
  prefer = "access_token",
): Promise<FoundToken> {
  const found = findTokens(await readText(cli, command, argument));
  const chosen = found.find(({ name }) => name === prefer) ?? found[0];
  if (chosen === undefined || (found.length > 1 && chosen.name === null)) {
    throw new OperationError("usage", `there are ${found.length} tokens; this takes one`, {
      hint: { text: "To decode each", command: ["idp", "token", "decode", "-"] },
    });
  }
  if (chosen.token.length > maxCharacters) {
    throw new OperationError("usage", `this has ${chosen.token.length} characters, and no token has as many`);
  }
  return chosen;
}
