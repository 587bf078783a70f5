import { OperationError } from "../core/errors.ts";
import { findTokens, type FoundToken } from "../core/decode.ts";
import type { Invocation } from "./invocation.ts";

/** Where a command on tokens gets its token from. */

/** A pipe that holds more than this holds no token. */
const mostBytes = 4 * 1024 * 1024;

/** A stream to its end, as text. @throws {OperationError} usage, where it is too long */
export async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes)
      throw new OperationError("usage", "standard input is too long: a token or a secret is meant");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/**
 * The text that was given: the argument; standard input for "-", or without an argument where it is no terminal.
 * @throws {OperationError} usage, where there is none
 */
export async function readText(cli: Invocation, argument: string | undefined): Promise<string> {
  const fromInput = argument === "-" || (argument === undefined && !cli.stdin.isTTY);
  const text = fromInput ? await readAll(cli.stdin) : (argument ?? "");
  if (text.trim() === "") {
    throw new OperationError("usage", "there is no token", {
      hint: "Give it as an argument, or on standard input with - in its place.",
    });
  }
  return text;
}

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
      hint: "To see what each says: idp token decode -",
    });
  }
  return chosen;
}
