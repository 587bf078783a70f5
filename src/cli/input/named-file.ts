import { readFileSync } from "node:fs";
import { OperationError, type OperationErrorCode } from "../../core/errors.ts";
import { codeOf } from "../../files/fault.ts";

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
