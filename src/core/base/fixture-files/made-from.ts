import { basename, join } from "node:path";
import type { MadeFrom, ReadTx, Tx } from "../../../store/store.ts";
import { sameJson } from "../../../text/json.ts";
import { OperationError } from "../errors.ts";
import type { AnyFixtures } from "./source.ts";

/** The fixtures that the data were made from. `seed`, `diff` and `reset` take them where none are named. */

const id = "madeFrom";

/** @returns null: nobody knows */
export function madeFrom(tx: ReadTx): MadeFrom | null {
  const found = tx.get("fixtures", id);
  return found?.id === id ? found : null;
}

/** Only a file that this process read has a path: the name in a request says nothing about the files of this machine. */
function originOf(source: AnyFixtures): MadeFrom["from"][number] {
  if (!("name" in source)) return { name: null, path: null };
  const folder = "text" in source ? source.folder : undefined;
  return { name: source.name, path: folder === undefined ? null : join(folder, basename(source.name ?? "")) };
}

const isDemo = (sources: readonly AnyFixtures[]): boolean =>
  sources.length > 0 && sources.every((source) => "builtIn" in source);

/** Replaces what the data were made from. No sources: other data, as those of an import. */
export function rememberMadeFrom(tx: Tx, sources: readonly AnyFixtures[]): void {
  const record: MadeFrom = { id, demo: isDemo(sources), from: sources.map(originOf) };
  if (!sameJson(madeFrom(tx), record)) tx.put("fixtures", record);
}

/** "team.yaml", or what stands for fixtures without a name. */
export const namesOfOrigin = ({ from }: MadeFrom): string =>
  from.map(({ name }) => name ?? "the fixtures of a program").join(", ") || "an import";

/** Whether these fixtures are the demo, and the data were made from something else. */
export const isForeignDemo = (sources: readonly AnyFixtures[], origin: MadeFrom | null): boolean =>
  isDemo(sources) && origin?.demo !== true;

/** The demo never replaces data that were not made from it, and is never added to them. @throws {OperationError} usage */
export function refuseForeignDemo(sources: readonly AnyFixtures[], origin: MadeFrom | null): void {
  if (!isForeignDemo(sources, origin)) return;
  const what = origin === null ? "were not made from the demo" : `were made from ${namesOfOrigin(origin)}`;
  throw new OperationError("usage", `the data ${what}, and this server has only the demo`, {
    hint: { text: "Name the fixtures", command: ["idp", "reset", "--fixtures", "FILE"] },
  });
}
