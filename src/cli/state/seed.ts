/*
 * cli/state: commands on all records at once: seed, reset, export, import.
 */
import { filesIn, type FixtureSource } from "../../core/fixtures/read/source.ts";
import type { OperationInput } from "../../core/operations/table.ts";
import { findFixtures } from "../../serve/fixture-files.ts";
import type { Invocation } from "../invocation.ts";
import { withFixtures } from "../input/foreign-fixtures.ts";
import { withStdin } from "../program/server-flags.ts";
import { answer, type Outcome } from "../output/print.ts";
import { showProgress } from "../output/progress.ts";
import { seedSummary } from "../start/seed-summary.ts";
import { findTarget } from "../target/target.ts";

export interface SeedFlags {
  readonly check?: true;
  readonly printSchema?: true;
}

/** The names of the files, or the built-in demo. */
const namesOf = (names: readonly string[]): string => (names.length === 0 ? "built-in demo" : names.join(", "));

/** `idp seed`: applies fixture files to a running server or to the folder, which is made if it does not exist. */
export async function seed(cli: Invocation, paths: readonly string[], flags: SeedFlags): Promise<Outcome> {
  if (flags.printSchema === true) {
    const { fixtureSchema } = await import("../../core/fixtures/schema/json-schema.ts");
    return answer(fixtureSchema(), (schema) => JSON.stringify(schema, null, 2));
  }
  const { sources, names } = findFixtures(await withStdin(cli, paths), process.cwd(), ["idp", "seed"]);
  if (flags.check === true) {
    const { checkFixtures } = await import("../../core/fixtures/apply/seed.ts");
    await withFixtures(sources, () => checkFixtures(sources));
    return answer({ valid: true, files: names }, () => `${namesOf(names)}: no problem found`);
  }
  const target = await findTarget(cli);
  const progress = showProgress(cli, "Applying fixtures");
  try {
    const result = await withFixtures(sources, () => target.call("seed", inputOf(sources), progress.update));
    progress.end();
    return answer(result, (shown) => `${namesOf(names)}: ${seedSummary(shown)}`, {
      notes: [target.where],
    });
  } finally {
    progress.end();
  }
}

/** Texts are sent as they are, so that the server can say where something is wrong; the demo is sent as a document. */
function inputOf(sources: readonly FixtureSource[]): OperationInput<"seed"> {
  const [only] = sources;
  if (only !== undefined && "value" in only) return only.value as OperationInput<"seed">;
  return { sources: filesIn(sources) };
}
