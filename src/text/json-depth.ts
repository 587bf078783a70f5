/** How deep JSON may be nested, wherever it is read: bodies, tokens, files. Code that follows a deeper value would overflow the stack. */
export const deepest = 64;

export class NestingError extends Error {
  override readonly name = "NestingError";
  constructor() {
    super(`it is nested more than ${deepest} levels deep`);
  }
}

const [quote, backslash] = [0x22, 0x5c];
const isOpening = (byte: number | undefined): boolean => byte === 0x5b || byte === 0x7b;
const isClosing = (byte: number | undefined): boolean => byte === 0x5d || byte === 0x7d;

/** @param bytes UTF-8, whose other characters have none of these bytes. @throws {NestingError} */
export function checkDepth(bytes: Uint8Array): void {
  let depth = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === quote) {
      do at += bytes[at] === backslash ? 2 : 1;
      while (at < bytes.length && bytes[at] !== quote);
    } else if (isOpening(bytes[at])) {
      depth += 1;
      if (depth > deepest) throw new NestingError();
    } else if (isClosing(bytes[at])) depth -= 1;
  }
}

/** As `JSON.parse`. @throws {SyntaxError | NestingError} */
export function parseJson(text: string | Buffer): unknown {
  // A shorter text cannot be that deep, and most tokens are asked for often.
  if (text.length > deepest) checkDepth(typeof text === "string" ? Buffer.from(text) : text);
  return JSON.parse(text.toString());
}
