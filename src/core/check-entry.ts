import { OperationError } from "./errors.ts";

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
    const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
    throw new OperationError("invalid", `the ${kind} has ${count}; nothing was changed`, {
      hint: "Mend what is listed; what a field may hold: idp seed --print-schema",
      problems,
    });
  }
}
