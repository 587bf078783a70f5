import { OperationError } from "../../../core/errors.ts";
import { codeOf } from "../../../files/fault.ts";
import { wordsWithoutPassword } from "../../../store/postgres/address.ts";
import { issuerOnPort } from "../../target/remote.ts";

/** The command as it was typed, but on a free port, because other data or fixtures would make it another server. */
function onFreePort(words: readonly string[]): readonly string[] {
  const kept = words.filter(
    (word, at) => word !== "--port" && words[at - 1] !== "--port" && !word.startsWith("--port="),
  );
  return ["idp", ...wordsWithoutPassword(kept), "--port", "auto"];
}

/** The refusal of a port that another idp uses, which it names; null if the error is something else. */
export async function portTaken(error: unknown, words: readonly string[]): Promise<OperationError | null> {
  const { message, cause } = error instanceof OperationError ? error : { message: "", cause: undefined };
  if (codeOf(cause) !== "EADDRINUSE") return null;
  const { port } = cause as NodeJS.ErrnoException & { readonly port: number };
  const issuer = await issuerOnPort(port);
  const andIssuer = words.some((word) => /^--issuer(=|$)/.test(word)) ? "" : " (the issuer changes with it)";
  return issuer === null
    ? new OperationError("conflict", message, {
        hint: { text: `Use another port${andIssuer}`, command: onFreePort(words) },
        cause,
      })
    : new OperationError("conflict", `port ${port} is in use by another idp: ${issuer}`, {
        hint: { text: `Use that one, or another port for this one${andIssuer}`, command: onFreePort(words) },
        cause,
      });
}
