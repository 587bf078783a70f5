import { readFile } from "node:fs/promises";
import { allCases as apiCases } from "../../../check/api/cases/list.ts";
import { allCases as appCases } from "../../../check/client/cases/list.ts";
import { allCases as leaverCases } from "../../../check/leaver/cases.ts";
import { allCases as scimCases } from "../../../check/scim/cases/list.ts";
import { allCases as spCases } from "../../../check/sp/cases/list.ts";
import { OperationError } from "../../../core/errors.ts";
import { problemsIn } from "../../../core/fixture-files/problems.ts";
import { distrustOfFile } from "../../../store/json/trust.ts";
import { didYouMean } from "../../../core/nearest.ts";
import type { Subject } from "./subject.ts";

/** Cases that may go unnoticed, with the reasons: `--accept NAME[=REASON]`, and `idp.check.yaml` in the working folder. */

const file = "idp.check.yaml";
const noReason = "no reason given";

/** What can be checked, and the cases that may be accepted: all but the controls. */
const acceptable: Readonly<Record<Subject["name"], readonly string[]>> = {
  client: appCases.map(({ name }) => name),
  api: apiCases.map(({ name }) => name),
  sp: spCases.map(({ name }) => name),
  scim: scimCases.map(({ name }) => name),
  leaver: leaverCases.map(({ name }) => name),
};

/**
 * @param flags of `--accept`; they win over the file
 * @returns the reasons by name
 * @throws {OperationError} usage for a flag, invalid for the file
 */
export async function acceptedOf(
  flags: readonly string[],
  what: Subject["name"],
): Promise<ReadonlyMap<string, string>> {
  const ofFlags = flags.map((flag): readonly [string, string] => {
    const [name = "", reason = ""] = flag.split(/=(.*)/s);
    const problem = problemOf(name, acceptable[what]);
    if (problem !== null) throw new OperationError("usage", `--accept ${name}: ${problem}`);
    return [name, reasonOf(reason)];
  });
  return new Map([...(await readAccepted(what)), ...ofFlags]);
}

function problemOf(name: string, names: readonly string[]): string | null {
  if (names.includes(name)) return null;
  if (name.startsWith("control")) return "a control must work, and cannot be accepted";
  return `there is no such case. ${didYouMean(name, names, "--case with an unknown name lists all cases").text}`;
}

/** A section for each command. What is empty in YAML is null. */
async function fileSchema() {
  const z = await import("zod");
  const section = (names: readonly string[]) => {
    const name = z.string().superRefine((text, context) => {
      const problem = problemOf(text, names);
      if (problem !== null) context.addIssue(problem);
    });
    return z.strictObject({ accept: z.record(name, z.string().nullable()).nullish() }).nullish();
  };
  return z.strictObject(
    Object.fromEntries(Object.entries(acceptable).map(([checked, names]) => [checked, section(names)])),
  );
}

/** The reasons in a section of the file, by the names of the cases. @throws {OperationError} invalid, with each line that is wrong */
async function readAccepted(what: Subject["name"]): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new OperationError("invalid", `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (text === null || text.trim() === "") return new Map();
  const distrust = distrustOfFile(file);
  if (distrust !== null)
    throw new OperationError("invalid", `${file} ${distrust.problem}, so it accepts nothing`, {
      hint: distrust.repair,
    });
  const [{ readYamlSource }, { explain }, { keysOf }, schema] = await Promise.all([
    import("../../../core/fixture-files/source.ts"),
    import("../../../core/fixture-files/explain.ts"),
    import("../../../core/fixtures/schema.ts"),
    fileSchema(),
  ]);
  const document = await readYamlSource(file, text);
  const { data, error } = schema.safeParse(document.value ?? {});
  const issues = document.found.length > 0 ? [] : (error?.issues ?? []);
  const found = [
    ...document.found,
    ...issues.flatMap((issue) => explain(issue, document.value, [], (below) => keysOf(schema, below))),
  ];
  if (found.length > 0) {
    throw new OperationError("invalid", `${file} has problems`, {
      hint: `It holds: client: { accept: { NAME: REASON } }, and the same for ${Object.keys(acceptable).slice(1).join(", ")}`,
      problems: problemsIn(
        [document],
        found.map((one) => ({ ...one, document: 0 })),
      ),
    });
  }
  return new Map(Object.entries(data?.[what]?.accept ?? {}).map(([name, reason]) => [name, reasonOf(reason)]));
}

const reasonOf = (given: string | null): string => (given === null || given.trim() === "" ? noReason : given.trim());
