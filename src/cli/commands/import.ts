import { decodeFixture } from "../../core/base/fixture-files/source.ts";
import { confirmed, notConfirmed } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { showProgress } from "../output/progress.ts";
import { readNamedFile, readBytes } from "../input/read.ts";
import { findTarget } from "../target/target.ts";
import { count } from "../output/words.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

/** `idp import`: an export replaces all data. @param file `-` for standard input */
async function importState(cli: Invocation, file: string): Promise<Outcome> {
  const name = file === "-" ? "stdin" : file;
  const hint = "Name a file that idp export --output wrote, or - for stdin";
  const bytes = file === "-" ? await readBytes(cli.stdin) : readNamedFile(file, { code: "invalid", hint });
  const source = { name, text: decodeFixture(name, bytes) };
  const target = await findTarget(cli);
  const question = `Import ${name}? It replaces all users, clients, grants, sessions and keys.`;
  if (file !== "-" && !(await confirmed(cli, question))) throw notConfirmed("nothing was imported");
  const progress = showProgress(cli, "Importing records");
  const result = await target.call("import", { source }, progress.update).finally(progress.end);
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

/** Declares `idp import`. */
export const declareImport: Declare = (command, { act }) => {
  command
    .argument("<file>", "a file from idp export, or - for stdin")
    .addHelpText("after", examples("idp import state.json", "idp export --data .idp-old | idp import -"))
    .action(act(importState));
};
