import { OperationError } from "../../../core/base/errors.ts";
import { oneFile, type ToolName } from "../../../migrate/tool-names.ts";
import type { FileText } from "../../../migrate/text.ts";
import { lossLines } from "../../../migrate/losses.ts";
import { readFrom } from "../../../migrate/tools.ts";
import { fixtureText } from "../../../migrate/draft.ts";
import { decodeFixture } from "../../../core/base/fixture-files/source.ts";
import { checkFixtures } from "../../../core/admin/seed/seed.ts";
import { plainCommandLine } from "../../../core/base/hint.ts";
import { loginClient, loginGrantTypes, loopbackRedirectUri } from "./app-types.ts";
import { checkPlace, file as target, schemaNearby, writeFixtures } from "./place.ts";
import type { InitFlags } from "./flags.ts";
import { readNamedFile } from "../../input/read.ts";
import type { Invocation } from "../../invocation.ts";
import { asTyped } from "../../output/command-line.ts";
import { escapeLine } from "../../output/escape.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { startCommand } from "../../target/target.ts";
import { count } from "../../output/words.ts";

/** `idp init --from`: a fixture file made from the files of another tool. */
export async function initFrom(
  cli: Invocation,
  tool: ToolName,
  files: readonly string[],
  flags: InitFlags,
): Promise<Outcome> {
  checkWords(tool, files, flags);
  const command = ["idp", "init", "--from", tool, ...files];
  const place = { flags, withFlag: (flag: string) => [...command, flag] };
  checkPlace(place);
  const { draft, leftOut } = await readFrom(tool, files.map(read));
  const login = { client_id: loginClient, redirect_uris: [loopbackRedirectUri], grant_types: [...loginGrantTypes] };
  // A name or a value in the files may have characters that a terminal acts upon.
  const losses = lossLines(leftOut);
  const text = asTyped(
    fixtureText(draft, losses.whole.map(escapeLine), {
      command: escapeLine(plainCommandLine(command)),
      schema: schemaNearby(),
      loginClient: login,
    }),
    cli,
  );
  await checkFixtures([{ name: target, text }]);
  const document = {
    file: flags.stdout === true ? null : target,
    tool,
    users: draft.users.length,
    clients: draft.clients.length,
    leftOut,
    ...(flags.stdout === true && { text }),
  };
  const notes = leftOut.length === 0 ? [] : ["Not carried over:", ...losses.short.map(escapeLine)];
  if (flags.stdout === true) return answer(document, () => text.trimEnd(), { notes });
  writeFixtures(place, text);
  return answer(
    document,
    ({ users, clients }, style) =>
      `Created ${style.bold(target)}: ${count(users, "user")}, ${count(clients, "client")} of ${escapeLine(files.join(" and "))}`,
    { notes: [...notes, { text: "Next", command: startCommand }] },
  );
}

/** @throws {OperationError} usage */
function checkWords(
  tool: ToolName,
  files: readonly string[],
  { type, for: library, client, redirectUri, port, user }: InitFlags,
): void {
  const isOne = oneFile.includes(tool);
  const form = tool === "soluto" ? ["USERS", "CLIENTS"] : isOne ? ["FILE"] : ["FILE…"];
  if (files.length === 0 || (isOne && files.length > 1)) {
    const wrong = files.length === 0 ? "no file is named" : `${tool} takes 1 file, and there are ${files.length}`;
    throw new OperationError("usage", wrong, {
      hint: { text: "Write", command: ["idp", "init", "--from", tool, ...form] },
    });
  }
  const flag = Object.entries({
    "--type": type,
    "--for": library,
    "--client": client,
    "--redirect-uri": redirectUri,
    "--port": port,
    "--user": user,
  }).find(([, value]) => value !== undefined);
  if (flag !== undefined)
    throw new OperationError("usage", `${flag[0]} has no effect with --from, which takes all from the file`);
}

/** @throws {OperationError} invalid */
const read = (name: string): FileText => ({
  name,
  text: decodeFixture(name, readNamedFile(name, { code: "invalid", hint: "Name a file that the tool wrote or reads" })),
});
