import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { OperationError } from "../../core/base/errors.ts";
import { namesOfOrigin } from "../../core/base/fixture-files/made-from.ts";
import { filesIn } from "../../core/base/fixture-files/source.ts";
import type { Hint } from "../../core/base/hint.ts";
import { builtInDemo, readFixtures, usualNames, type FoundFixtures } from "../../serve/fixture-files.ts";
import type { MadeFrom } from "../../store/store.ts";
import { filesOf, fixturePaths, requireNamed, withStdin } from "../flags/fixtures.ts";
import type { Invocation } from "../invocation.ts";
import type { Target } from "./target.ts";

/** The fixtures of `seed`, `diff` and `reset`: those that are named, else those that the server has, or that the data were made from. */

interface Chosen {
  /** Null: those in use, which the server or the data of the issuer has itself. */
  readonly fixtures: FoundFixtures | null;
  /** Says which were used, where the working folder has others. */
  readonly notes: readonly Hint[];
}

/** The fixtures of an input; the demo is sent as a document. */
export function inputOf(sources: FoundFixtures["sources"]): {
  fixtures?: object;
  sources?: { name: string; text: string }[];
} {
  const [only] = sources;
  return only !== undefined && "value" in only ? { fixtures: only.value as object } : { sources: filesIn(sources) };
}

/** A fixture file of the working folder, besides those that were used. */
const fileHere = (used: readonly string[] = []): string | undefined =>
  usualNames.find(
    (name) =>
      statSync(name, { throwIfNoEntry: false })?.isFile() === true &&
      !used.some((file) => resolve(file) === resolve(name)),
  );

/**
 * @param target null: only the named ones are looked at
 * @param paths those that were named
 * @param naming the words of the command that come before a name
 * @throws {OperationError} usage where they must be named; invalid, if they cannot be read
 */
export async function chosenFixtures(
  cli: Invocation,
  target: Target | null,
  paths: readonly string[],
  naming: readonly string[],
): Promise<Chosen> {
  const command = [...naming, "--fixtures"];
  if (paths.length > 0) {
    return { fixtures: await readFixtures(await withStdin(cli, paths), process.cwd(), command), notes: [] };
  }
  if (target !== null && target.server !== null)
    return { fixtures: null, notes: await noteOnServer(cli, target, naming) };
  const ofVariable = fixturePaths(cli, {});
  requireNamed(cli, ofVariable, command);
  const made = await originOfData(cli);
  if (made === "in use") return { fixtures: null, notes: [] };
  const asStart = (): Promise<FoundFixtures> => readFixtures(ofVariable, process.cwd(), command);
  if (made === "new" || made?.demo === true) {
    if (made === "new") return { fixtures: await asStart(), notes: [] };
    return { fixtures: { sources: [builtInDemo()], names: [] }, notes: noteOn("the demo", [], naming) };
  }
  if (made === null) {
    const found = await asStart();
    if (found.names.length > 0) return { fixtures: found, notes: [] };
    throw mustBeNamed("it is not known which fixtures the data were made from", command);
  }
  const files = filesOf(made);
  if (files === null) {
    const isGone = made.from.length > 0 && made.from.every(({ path }) => path !== null);
    const names = namesOfOrigin(made);
    throw mustBeNamed(
      isGone
        ? `the data were made from ${names}, which is no longer there`
        : `the data were made from ${names}, which is not a file that can be read again`,
      command,
    );
  }
  return {
    fixtures: await readFixtures(files, process.cwd(), command),
    notes: noteOn(files.join(", "), files, naming),
  };
}

const mustBeNamed = (message: string, command: readonly string[]): OperationError =>
  new OperationError("usage", message, {
    hint: { text: "Name the fixtures", command: [...command, fileHere() ?? "FILE"] },
  });

function noteOn(used: string, files: readonly string[], naming: readonly string[]): readonly Hint[] {
  const here = fileHere(files);
  if (here === undefined) return [];
  return [
    {
      text: `Used ${used}, which the data were made from, and not ${here} of this folder. To use that`,
      command: [...naming, "--fixtures", here],
    },
  ];
}

/** A server of another folder may have a file with the same name. */
async function noteOnServer(cli: Invocation, target: Target, naming: readonly string[]): Promise<readonly Hint[]> {
  const here = fileHere();
  if (here === undefined) return [];
  const files = (await target.call("fixtures.list", {})).map(({ file }) => file);
  if (files.includes(here) && cli.target.length === 0) return [];
  return [
    {
      text: `Used ${files.length === 0 ? "its fixtures" : files.join(", ")} of the server, and not ${here} of this folder. To use that`,
      command: [...naming, "--fixtures", here],
    },
  ];
}

/**
 * The files that `idp start` takes in place of the demo, because the data were made from them; null: none.
 * What is wrong with the data, the start itself says.
 */
export async function filesForStart(cli: Invocation): Promise<readonly string[] | null> {
  const made = await originOfData({ ...cli, issuer: null }).catch(() => null);
  return made === null || typeof made === "string" || made.demo ? null : filesOf(made);
}

/** What the data know of it. */
async function originOfData(cli: Invocation): Promise<MadeFrom | "new" | "in use" | null> {
  if (cli.store !== null || !existsSync(join(cli.data, "data.json"))) return "new";
  return (await import("./folder.ts")).originOf(cli);
}
