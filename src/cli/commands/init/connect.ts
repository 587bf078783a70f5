import type { ClientView } from "../../../core/records/clients/admin.ts";
import type { Hint } from "../../../core/base/hint.ts";
import { valuesOf } from "../env/app-client.ts";
import { variablesOf } from "../env/app-variables.ts";
import { type Variables, formatted } from "../env/format.ts";
import type { ServedStatus } from "../env/libraries/form.ts";
import { piecesOf } from "../env/libraries.ts";
import type { Invocation } from "../../invocation.ts";
import { isBeforeStart, targetBeforeStart } from "../../target/before-start.ts";
import { findTarget } from "../../target/target.ts";
import { variablesFor } from "./library.ts";
import { file } from "./place.ts";
import type { FoundLibrary, Project } from "./project.ts";
import { readTextFile, setIn, withoutBlock, writeBlock } from "../env/file.ts";
import { envFile } from "../env/choices.ts";

export interface CodePiece {
  /** "into src/auth.js, a new file". */
  readonly where: string;
  /** The file of which it is the whole text, and which does not exist yet; null for none. */
  readonly file: string | null;
  /** The file that has its place already; null for none. */
  readonly there: string | null;
  readonly text: string;
}

/** What the app itself needs: variables, and code to paste. */
export interface Connection {
  /** The variables of `idp env` for `.env.local`; null if the code has the values. */
  readonly own: Variables | null;
  readonly more: Variables;
  readonly pieces: readonly CodePiece[];
  readonly signsInAt: string | null;
  readonly signsOutAt: string | null;
  /** That the code signs nobody out at the provider; null where it does. */
  readonly noSignOut: string | null;
  readonly notes: readonly (string | Hint)[];
}

/** @param text the text of the fixture file, which may not exist yet @throws {OperationError} refused if the library cannot use the client */
export async function connectionOf(
  cli: Invocation,
  text: string,
  {
    clientId,
    project,
    found,
  }: { readonly clientId: string; readonly project: Project; readonly found: FoundLibrary | null },
): Promise<Connection> {
  const fixtures = await targetBeforeStart(cli, { sources: [{ name: file, text }], names: [file] });
  const client = await fixtures.call("clients.show", { client_id: clientId, secrets: true });
  const there = await findTarget(cli).catch(() => fixtures);
  const served = await (isBeforeStart(cli, there) ? fixtures : there).call("status", {});
  const variables = found === null ? null : variablesFor(project, found.library);
  const own = ownVariables(
    served,
    client,
    variables?.prefix ?? (client.public ? project.framework?.inBrowser?.prefix : ""),
  );
  if (found === null)
    return { own, more: [], pieces: [], signsInAt: null, signsOutAt: null, noSignOut: null, notes: [] };
  const app = { ...project, folder: process.cwd(), package: found.package, variables };
  const { pieces, variables: more, ...places } = piecesOf(found.library, served, client, app);
  return { own: variables === null ? null : own, pieces, more, ...places };
}

const ownVariables = (served: ServedStatus, client: ClientView, prefix = ""): Variables =>
  [...variablesOf({ ...valuesOf(served, client), discovery: null }, { prefix })].flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const],
  );

/**
 * Adds an app's variables. A name that the file already sets otherwise stays as it is.
 * @param own the variables of `idp env`, which `--write` keeps up to date @param env those of the client itself
 * @returns added: the names; different: lines that the app needs in place of those in the file
 */
export async function addToEnvFile(
  own: Variables,
  env: Variables,
): Promise<{ readonly added: readonly string[]; readonly different: readonly string[] }> {
  const before = await readTextFile(envFile);
  const others = withoutBlock(before ?? "").split(/\r?\n/);
  const set = setIn(others.join("\n"));
  const isSet = ([name]: Variables[number]): boolean => set(name);
  const added = [...own, ...env].filter((one) => !isSet(one));
  await writeBlock(envFile, before, formatted(added, "dotenv"));
  return {
    added: added.map(([name]) => name),
    different: own
      .filter(isSet)
      .map((variable) => formatted([variable], "dotenv"))
      .filter((line) => !others.includes(line)),
  };
}
