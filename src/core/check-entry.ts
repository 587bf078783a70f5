import { OperationError, type Problem } from "./errors.ts";

/** What an operator says of one user or client is checked by the rules of fixtures (CONTRACT section 3): there are no others. */

/** Fields as they were sent: nothing is known of them before the check. */
export type Entry = Readonly<Record<string, unknown>>;

const sections = { user: "users", client: "clients" } as const;

/**
 * Checks one entry.
 * @throws {OperationError} invalid, with every problem, each under the name of its field
 */
export async function checkEntry(kind: keyof typeof sections, entry: Entry): Promise<void> {
  const { checkFixtures } = await import("./seed.ts");
  const section = sections[kind];
  try {
    await checkFixtures([{ value: { [section]: [entry] } }]);
  } catch (error) {
    if (!(error instanceof OperationError) || error.problems.length === 0) throw error;
    const problems = error.problems.map((problem) => ({
      ...problem,
      path: problem.path.startsWith(`${section}[0]`)
        ? problem.path.slice(`${section}[0]`.length).replace(/^\./, "")
        : problem.path,
    }));
    throw refuseEntry(kind, problems);
  }
}

function refuseEntry(kind: keyof typeof sections, problems: readonly Problem[]): OperationError {
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return new OperationError("invalid", `the ${kind} has ${count}; nothing was changed`, {
    hint: { text: "Fix what is listed. What a field may hold", command: ["idp", "seed", "--print-schema"] },
    problems,
  });
}

/**
 * What a record is shown with and nobody sets may be sent back as it is: who changes one field of what they read need not take it out.
 * @param field its name; `given`: what was sent, undefined where nothing was; `is`: what is so after the change; `rule`: what decides it
 * @throws {OperationError} invalid, where it says what is not so
 */
export function checkComputed(
  kind: keyof typeof sections,
  {
    field,
    given,
    is,
    rule,
  }: { readonly field: string; readonly given: unknown; readonly is: boolean; readonly rule: string },
): void {
  if (given === undefined || given === is) return;
  const message = `is not set but follows, and would be ${String(is)}: ${rule}; leave it out, or change that`;
  throw refuseEntry(kind, [{ path: field, message }]);
}
