import { readFileSync } from "node:fs";
import { OperationError } from "../../core/errors.ts";
import { decodeFixture } from "../../core/fixtures/read/source.ts";
import { confirmed, notConfirmed } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { readBytes } from "../input/stdin.ts";
import { findTarget } from "../target/target.ts";
import { count } from "../output/words.ts";

/** `idp import`: an export replaces all data. @param file `-` for standard input */
export async function importState(cli: Invocation, file: string): Promise<Outcome> {
  const name = file === "-" ? "stdin" : file;
  const source = { name, text: decodeFixture(name, await bytesOf(cli, file)) };
  const target = await findTarget(cli);
  const question = `Import ${name}? It replaces all users, clients, grants, sessions and keys.`;
  if (file !== "-" && !(await confirmed(cli, question))) throw notConfirmed("nothing was imported");
  const result = await target.call("import", { document: { source } });
  const { otherIssuer } = result;
  return answer(
    result,
    ({ users, clients, grants, sessions, keys }) =>
      `Imported ${name}: ${count(users, "user")}, ${count(clients, "client")}, ${count(grants, "grant")}, ${count(sessions, "session")}, ${count(keys, "key")}.`,
    {
      notes: [
        ...(otherIssuer === null ? [] : [`Its tokens carry the issuer ${otherIssuer}, and work only there.`]),
        target.where,
      ],
    },
  );
}

async function bytesOf(cli: Invocation, file: string): Promise<Uint8Array> {
  if (file === "-") return readBytes(cli.stdin);
  try {
    return readFileSync(file);
  } catch (error) {
    throw new OperationError("invalid", `${file} cannot be read`, {
      hint: "It is a file that idp export --output wrote, or - for stdin",
      cause: error,
    });
  }
}
