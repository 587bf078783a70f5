import type { Settings } from "./context.ts";
import { OperationError } from "./errors.ts";
import { normaliseSettings } from "./fixtures/normalise.ts";
import type { FixtureSettings } from "./fixtures/schema.ts";
import { readSource } from "./fixtures/source.ts";
import { isObject } from "./json-object.ts";
import { checkDocuments } from "./seed-prepare.ts";

/**
 * Settings that a program hands in, by the rules of fixtures (CONTRACT section 3): there are no others.
 * @throws {OperationError} usage, with every problem at once
 */
export async function checkSettings(given: unknown = {}): Promise<Partial<Settings>> {
  // What most starts bring; the schema need not be loaded for it.
  if (isObject(given) && Object.values(given).every((value) => value === undefined)) return {};
  const document = await readSource({ value: { settings: given } });
  try {
    // Whose name `login` holds is known only once the fixtures are applied.
    await checkDocuments(
      [document],
      () => undefined,
      async () => [],
    );
  } catch (error) {
    if (!(error instanceof OperationError) || error.problems.length === 0) throw error;
    const listed = error.problems.map(({ path, message }) => `${path} ${message}`).join("; ");
    throw new OperationError("usage", `the settings are not valid: ${listed}`, {
      hint: {
        text: "They are those of fixtures, and times are seconds. What each may hold",
        command: ["idp", "seed", "--print-schema"],
      },
      problems: error.problems,
    });
  }
  return normaliseSettings(given as FixtureSettings);
}
