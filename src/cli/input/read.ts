import { readFileSync } from "node:fs";
import { OperationError, type OperationErrorCode } from "../../core/base/errors.ts";
import { codeOf } from "../../files/durable-file.ts";

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "its permissions do not allow it",
};

/**
 * Reads a file that the command line names.
 * @param refusal `what`: the name as it was typed, with its flag; `hint`: what to name instead
 * @throws {OperationError} with that code
 */
export function readNamedFile(
  file: string,
  refusal: { readonly code: OperationErrorCode; readonly what?: string; readonly hint?: string },
): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    const { code, what = file, hint } = refusal;
    const why = reasons[codeOf(error)] ?? codeOf(error);
    throw new OperationError(code, `${what} cannot be read: ${why}`, {
      ...(hint !== undefined && { hint }),
      cause: error,
    });
  }
}

/** Standard input is always read as the stream: by its descriptor, a pipe that is still empty is an error (EAGAIN). */

/** No token and no secret is longer. */
const maxBytes = 1024 * 1024;

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a stream to its end. @param check receives the number of bytes so far, and throws if that is too much */
export async function readBytes(
  stream: NodeJS.ReadStream,
  check: (bytes: number) => void = () => undefined,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    check(bytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Reads a token or a secret: a stream to its end, as text. @throws {OperationError} usage if it is too long, or not text */
export async function readAll(stream: NodeJS.ReadStream): Promise<string> {
  const bytes = await readBytes(stream, (length) => {
    if (length > maxBytes) {
      throw new OperationError("usage", "standard input has more than 1 MB: expected a token or a secret");
    }
  });
  return textOf(bytes);
}

function textOf(bytes: Buffer): string {
  let text = "";
  try {
    text = utf8.decode(bytes);
  } catch {
    // Refused below.
  }
  if (bytes.length > 0 && (text === "" || text.includes("\u0000"))) {
    throw new OperationError("usage", "standard input is binary data: expected a token or a secret", {
      hint: "A text file in UTF-16, as some shells of Windows write it, has to be saved as UTF-8.",
    });
  }
  return text;
}
