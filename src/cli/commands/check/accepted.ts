import { readFile } from "node:fs/promises";
import { allCases as apiCases } from "../../../client/api-check/cases/list.ts";
import { allCases as appCases } from "../../../client/app-check/cases/list.ts";
import { allCases as leaverCases } from "../../../client/leaver-check/cases.ts";
import { allCases as scimCases } from "../../../client/scim-check/cases/list.ts";
import { allCases as spCases } from "../../../client/sp-check/cases/list.ts";
import { OperationError } from "../../../core/errors.ts";
import type { Path } from "../../../core/fixture-files/located.ts";
import { problemsIn, type FoundIn } from "../../../core/fixture-files/problems.ts";
import { isObject } from "../../../text/json-object.ts";
import { didYouMean } from "../../../core/nearest.ts";

/** Cases that may go unnoticed, with the reasons: `--accept NAME[=REASON]`, and `idp.check.yaml` in the working folder. */

const file = "idp.check.yaml";
const noReason = "no reason given";

/** What can be checked, and the cases that may be accepted: all but the controls. */
const acceptable = {
  client: appCases.map(({ name }) => name),
  api: apiCases.map(({ name }) => name),
  sp: spCases.map(({ name }) => name),
  scim: scimCases.map(({ name }) => name),
  leaver: leaverCases.map(({ name }) => name),
};
type Checked = keyof typeof acceptable;

/**
 * @param flags of `--accept`; they win over the file
 * @returns the reasons by name
 * @throws {OperationError} usage for a flag, invalid for the file
 */
export async function acceptedOf(flags: readonly string[], what: Checked): Promise<ReadonlyMap<string, string>> {
  const ofFlags = flags.map((flag): readonly [string, string] => {
    const [name = "", reason = ""] = flag.split(/=(.*)/s);
    const problem = problemOf(name, acceptable[what]);
    if (problem !== null) throw new OperationError("usage", `--accept ${name}: ${problem}`);
    return [name, reason.trim() === "" ? noReason : reason.trim()];
  });
  const ofFile = await readAccepted();
  return new Map([...ofFile[what], ...ofFlags]);
}

function problemOf(name: string, names: readonly string[]): string | null {
  if (names.includes(name)) return null;
  if (name.startsWith("control")) return "a control must work, and cannot be accepted";
  return `there is no such case. ${didYouMean(name, names, "--case with an unknown name lists all cases").text}`;
}

type Sections = Readonly<Record<Checked, ReadonlyMap<string, string>>>;

const eachSection = (make: (what: Checked) => ReadonlyMap<string, string>): Sections =>
  Object.fromEntries((Object.keys(acceptable) as Checked[]).map((what) => [what, make(what)])) as Sections;

async function readAccepted(): Promise<Sections> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new OperationError("invalid", `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (text === null || text.trim() === "") return eachSection(() => new Map());
  const { readYamlSource } = await import("../../../core/fixture-files/source.ts");
  const document = await readYamlSource(file, text);
  const found: FoundIn[] = document.found.map((one) => ({ ...one, document: 0 }));
  const refuse = (path: Path, message: string, at?: "key"): void => {
    found.push({ document: 0, path, message, ...(at !== undefined && { at }) });
  };
  const sections = found.length > 0 ? null : sectionsIn(document.value, refuse);
  if (sections !== null && found.length === 0) return sections;
  throw new OperationError("invalid", `${file} has problems`, {
    hint: `It holds: client: { accept: { NAME: REASON } }, and the same for ${Object.keys(acceptable).slice(1).join(", ")}`,
    problems: problemsIn([document], found),
  });
}

type Refuse = (path: Path, message: string, at?: "key") => void;

function sectionsIn(value: unknown, refuse: Refuse): Sections {
  const top = objectAt(value, [], Object.keys(acceptable), refuse);
  const section = (what: Checked): ReadonlyMap<string, string> => {
    const { accept } = objectAt(top[what], [what], ["accept"], refuse);
    const names = acceptable[what];
    return new Map(
      Object.entries(objectAt(accept, [what, "accept"], null, refuse)).map(([name, reason]) => {
        const path = [what, "accept", name];
        const problem = problemOf(name, names);
        if (problem !== null) refuse(path, problem, "key");
        else if (reason !== null && typeof reason !== "string") refuse(path, "must be a text: the reason");
        return [name, typeof reason === "string" && reason.trim() !== "" ? reason.trim() : noReason];
      }),
    );
  };
  return eachSection(section);
}

/** An object with these keys only; null for any keys. An absent one is empty. */
function objectAt(
  value: unknown,
  path: Path,
  keys: readonly string[] | null,
  refuse: Refuse,
): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) {
    refuse(path, "must be a map");
    return {};
  }
  for (const key of Object.keys(value)) {
    if (keys?.includes(key) !== false) continue;
    refuse([...path, key], `is unknown here. ${didYouMean(key, keys, `Known: ${keys.join(", ")}`).text}`, "key");
  }
  return value;
}
