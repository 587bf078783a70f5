import { readFile } from "node:fs/promises";
import { OperationError } from "../../core/base/errors.ts";
import { problemsIn } from "../../core/base/fixture-files/problems.ts";
import { didYouMean } from "../../core/base/nearest.ts";
import type { Check } from "./check.ts";
import type { Host } from "./host.ts";

/** Cases that may go unnoticed, with the reasons: `--accept NAME[=REASON]`, and `idp.check.yaml` in the working folder. */

const file = "idp.check.yaml";
const noReason = "no reason given";

const namesOf = (all: readonly { readonly name: string }[]): readonly string[] => all.map(({ name }) => name);

/**
 * @param flags of `--accept`; they win over the file
 * @returns the reasons by name
 * @throws {OperationError} usage for a flag, invalid for the file
 */
export async function acceptedOf(
  host: Pick<Host, "distrustOf">,
  flags: readonly string[],
  { name: checked, cases }: Check,
  checks: readonly Check[],
): Promise<ReadonlyMap<string, string>> {
  const ofFlags = flags.map((flag): readonly [string, string] => {
    const [name = "", reason = ""] = flag.split(/=(.*)/s);
    const problem = problemOf(name, namesOf(cases));
    if (problem !== null) throw new OperationError("usage", `--accept ${name}: ${problem}`);
    return [name, reasonOf(reason)];
  });
  return new Map([...(await readAccepted(host, checked, checks)), ...ofFlags]);
}

function problemOf(name: string, names: readonly string[]): string | null {
  if (names.includes(name)) return null;
  if (name.startsWith("control")) return "a control must work, and cannot be accepted";
  return `there is no such case. ${didYouMean(name, names, "--case with an unknown name lists all cases").text}`;
}

/** A section for each command. What is empty in YAML is null. */
async function fileSchema(checks: readonly Check[]) {
  const z = await import("zod");
  const section = (names: readonly string[]) => {
    const name = z.string().superRefine((text, context) => {
      const problem = problemOf(text, names);
      if (problem !== null) context.addIssue(problem);
    });
    return z.strictObject({ accept: z.record(name, z.string().nullable()).nullish() }).nullish();
  };
  return z.strictObject(Object.fromEntries(checks.map(({ name, cases }) => [name, section(namesOf(cases))])));
}

/** The reasons in a section of the file, by the names of the cases. @throws {OperationError} invalid, with each line that is wrong */
async function readAccepted(
  { distrustOf }: Pick<Host, "distrustOf">,
  checked: string,
  checks: readonly Check[],
): Promise<ReadonlyMap<string, string>> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new OperationError("invalid", `${file} cannot be read: ${(error as Error).message}`, { cause: error });
  });
  if (text === null || text.trim() === "") return new Map();
  const distrust = distrustOf(file);
  if (distrust !== null)
    throw new OperationError("invalid", `${file} ${distrust.problem}, so it accepts nothing`, {
      hint: distrust.repair,
    });
  const [{ readYamlSource }, { explain }, { keysOf }, schema] = await Promise.all([
    import("../../core/base/fixture-files/source.ts"),
    import("../../core/base/fixture-files/explain.ts"),
    import("../../core/admin/fixtures/schema.ts"),
    fileSchema(checks),
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
      hint: `It holds: client: { accept: { NAME: REASON } }, and the same for ${namesOf(checks).slice(1).join(", ")}`,
      problems: problemsIn(
        [document],
        found.map((one) => ({ ...one, document: 0 })),
      ),
    });
  }
  return new Map(Object.entries(data?.[checked]?.accept ?? {}).map(([name, reason]) => [name, reasonOf(reason)]));
}

const reasonOf = (given: string | null): string => (given === null || given.trim() === "" ? noReason : given.trim());
