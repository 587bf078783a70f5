import { OperationError } from "../../core/errors.ts";
import { findTokens, type FoundToken } from "../../core/tokens/decode.ts";
import type { Invocation } from "../invocation.ts";
import { readAll } from "../input/stdin.ts";

/** Where a command on tokens gets its token from. */

/** A token that is longer than this fits no header, and no request of the control API. */
const mostCharacters = 65_536;

/**
 * The text that was given: the argument; standard input for "-", or without an argument where it is no terminal; else what is
 * typed when asked.
 * @throws {OperationError} usage, where there is none
 */
export async function readText(cli: Invocation, argument: string | undefined): Promise<string> {
  const fromInput = argument === "-" || (argument === undefined && !cli.stdin.isTTY);
  const text = fromInput ? await readAll(cli.stdin) : (argument ?? (await askToken(cli)));
  if (text.trim() === "") {
    throw new OperationError("usage", "there is no token", {
      hint: "Give it as an argument, or use - for standard input.",
    });
  }
  return text;
}

/** Loaded where somebody can be asked only: decoding starts fast. */
const askToken = async (cli: Invocation): Promise<string> =>
  cli.interactive ? (await import("../input/ask.ts")).askText(cli, "The token") : "";

/** The one token that was given; of a token response the member `prefer`. @throws {OperationError} usage, refused */
export async function readToken(
  cli: Invocation,
  argument: string | undefined,
  prefer = "access_token",
): Promise<FoundToken> {
  const found = findTokens(await readText(cli, argument));
  const chosen = found.find(({ name }) => name === prefer) ?? found[0];
  if (chosen === undefined || (found.length > 1 && chosen.name === null)) {
    throw new OperationError("usage", `there are ${found.length} tokens; this takes one`, {
      hint: { text: "To decode each", command: ["idp", "token", "decode", "-"] },
    });
  }
  if (chosen.token.length > mostCharacters) {
    throw new OperationError("usage", `this has ${chosen.token.length} characters, and no token has as many`);
  }
  return chosen;
}
