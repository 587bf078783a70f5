import { colorNote } from "../../core/base/brand/brand.ts";
import { brandsIn, clientsIn, serviceProvidersIn } from "../../core/base/fixture-files/named-files.ts";
import { filesIn, readSource, usersWithoutEmail, type FixtureSource } from "../../core/base/fixture-files/source.ts";
import { OperationError } from "../../core/base/errors.ts";
import { didYouMean } from "../../core/base/nearest.ts";
import type { OperationInput } from "../../core/admin/operations/table.ts";
import type { Invocation } from "../invocation.ts";
import { withFixtures } from "../flags/fixtures.ts";
import type { FieldsOfFixtures } from "../../core/admin/fixtures/fields.ts";
import type { Style } from "../output/style.ts";
import { answer, type Outcome } from "../output/print.ts";
import { clientScopeNotes } from "../output/scope-notes.ts";
import { showProgress } from "../output/progress.ts";
import { seedSummary } from "../output/words.ts";
import type { Hint } from "../../core/base/hint.ts";
import { collect } from "../flags/flag-values.ts";
import { chosenFixtures } from "../target/chosen-fixtures.ts";
import { findTarget, type Target } from "../target/target.ts";
import type { Declare } from "../act.ts";
import { examples, type Command, type FlagsOf } from "../commander.ts";

const withSeedFlags = (command: Command) =>
  command
    .option("--fixtures <path>", "as a path; repeatable", collect)
    .option("--check", "check the files without applying them; exit 7 if there are problems")
    .option(
      "--fields",
      "print every field of fixture files with type, default and example, or of a section: users, settings, …",
    )
    .option("--print-schema", "print the JSON Schema of fixture files");
type SeedFlags = FlagsOf<typeof withSeedFlags>;

/** The names of the files, or the built-in demo. */
const namesOf = (names: readonly string[]): string => (names.length === 0 ? "built-in demo" : names.join(", "));

/** `idp seed`: applies fixture files to a running server or to the folder, which is made if it does not exist. */
async function seed(cli: Invocation, paths: readonly string[], flags: SeedFlags): Promise<Outcome> {
  if (flags.printSchema === true) {
    const { fixtureSchema } = await import("../../core/admin/fixtures/schema.ts");
    return answer(fixtureSchema(), (schema) => JSON.stringify(schema, null, 2));
  }
  if (flags.fields === true) {
    const { fieldsOfFixtures } = await import("../../core/admin/fixtures/fields.ts");
    return answer(named(fieldsOfFixtures(), paths), (sections, style) => fieldLines(sections, style));
  }
  const given = [...paths, ...(flags.fixtures ?? [])];
  // Files are checked without any data.
  const target = flags.check === true && given.length > 0 ? null : await findTarget(cli);
  const { fixtures, notes } = await chosenFixtures(cli, target, given, ["idp", "seed"]);
  if (fixtures === null) return seedInUse(cli, target ?? (await findTarget(cli)), notes, flags);
  const { sources, names } = fixtures;
  if (target === null || flags.check === true) {
    const { checkFixtures } = await import("../../core/admin/seed/seed.ts");
    await withFixtures(sources, () => checkFixtures(sources));
    return answer({ valid: true, files: names }, () => `${namesOf(names)}: no problem found`, {
      notes: [...(names.length === 0 ? [demoChecked] : []), ...notes, ...(await notesOn(sources, null))],
    });
  }
  const progress = showProgress(cli, "Applying fixtures");
  try {
    const result = await withFixtures(sources, () => target.call("seed", inputOf(sources), progress.update));
    progress.end();
    return answer(result, (shown) => `${namesOf(names)}: ${seedSummary(shown)}`, {
      notes: [...(await notesOn(sources, target)), ...notes, target.where],
    });
  } finally {
    progress.end();
  }
}

const demoChecked: Hint = {
  text: "No fixture file is here, so this is about the demo. To check a file",
  command: ["idp", "seed", "--check", "FILE"],
};

/** Without a file, a running server checks or applies its own fixtures; and so does an issuer whose data keeps them. */
async function seedInUse(
  cli: Invocation,
  target: Target,
  notes: readonly Hint[],
  { check }: SeedFlags,
): Promise<Outcome> {
  if (check === true) {
    const { files } = await target.call("fixtures.check", {});
    return answer({ valid: true, files }, () => `${ofServer(files)}: no problem found`, {
      notes: [...notes, target.where],
    });
  }
  const files = (await target.call("fixtures.list", {})).map(({ file }) => file);
  const progress = showProgress(cli, "Applying fixtures");
  try {
    const result = await target.call("fixtures.apply", {}, progress.update);
    return answer(result, (shown) => `${ofServer(files)}: ${seedSummary(shown)}`, { notes: [...notes, target.where] });
  } finally {
    progress.end();
  }
}

/** The names of its files; none for the demo, and for the objects of a program. */
const ofServer = (files: readonly string[]): string =>
  files.length === 0 ? "the server's fixtures" : files.join(", ");

/** What an operator should know of fixtures without a problem. */
const notesOn = async (sources: readonly FixtureSource[], target: Target | null): Promise<readonly string[]> => [
  ...(await adjustedColors(sources)),
  ...(await withoutEmail(sources)),
  ...(await clientScopeNotes(sources, target)),
  ...(await expiredMetadata(sources)),
  ...(await openPatterns(sources)),
];

const hasPatterns = (client: object): boolean => "redirect_patterns" in client;

/** Patterns that let in names which anybody can take. */
async function openPatterns(sources: readonly FixtureSource[]): Promise<readonly string[]> {
  const documents = await Promise.all(sources.map(readSource));
  const clients = documents.flatMap(({ value }) => clientsIn(value)).filter(hasPatterns);
  if (clients.length === 0) return [];
  const { patternRemarks } = await import("../../core/records/clients/redirect-patterns.ts");
  return (await Promise.all(clients.map(patternRemarks))).flat();
}

async function expiredMetadata(sources: readonly FixtureSource[]): Promise<readonly string[]> {
  const documents = await Promise.all(sources.map(readSource));
  const providers = documents.flatMap(({ value }) => serviceProvidersIn(value));
  if (providers.length === 0) return [];
  const { providerRemarks } = await import("../../core/records/service-providers/remarks.ts");
  return providers.flatMap((one) => providerRemarks(one, Date.now()));
}

async function adjustedColors(sources: readonly FixtureSource[]): Promise<readonly string[]> {
  const documents = await Promise.all(sources.map(readSource));
  return documents.flatMap(({ value }) => brandsIn(value)).flatMap(({ brand }) => colorNote(brand) ?? []);
}

/** A line on the users without an e-mail address, whose apps would never meet such a user elsewhere. */
async function withoutEmail(sources: readonly FixtureSource[]): Promise<readonly string[]> {
  const names = await usersWithoutEmail(sources);
  if (names.length === 0) return [];
  return [`Without an e-mail address: ${names.join(", ")}. The service itself always has one.`];
}

/** The named sections; all of them without a name. @throws {OperationError} usage for an unknown name */
function named(sections: FieldsOfFixtures, names: readonly string[]): FieldsOfFixtures {
  const known = Object.keys(sections);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new OperationError("usage", `there is no section "${unknown}"; there are ${known.join(", ")}`, {
      hint: didYouMean(unknown, known, { text: "Every field", command: ["idp", "seed", "--fields"] }),
    });
  }
  return Object.fromEntries(Object.entries(sections).filter(([name]) => names.length === 0 || names.includes(name)));
}

/** The fields, each in a line with its type and default, and its description below. */
function fieldLines(sections: FieldsOfFixtures, style: Style): string {
  return Object.entries(sections)
    .map(([section, fields]) =>
      [
        style.bold(section),
        ...fields.flatMap((field) => [
          `  ${field.name}  ${style.dim(field.type)}`,
          `      ${field.description}`,
          ...(field.default === "" ? [] : [`      default: ${field.default}`]),
          ...(field.example === "" ? [] : [`      example: ${field.name}: ${field.example}`]),
        ]),
      ].join("\n"),
    )
    .join("\n\n");
}

/** Texts are sent as they are, so that the server can say where something is wrong; the demo is sent as a document. */
function inputOf(sources: readonly FixtureSource[]): OperationInput<"seed"> {
  const [only] = sources;
  if (only !== undefined && "value" in only) return only.value as OperationInput<"seed">;
  return { sources: filesIn(sources) };
}

/** Declares `idp seed`. */
export const declareSeed: Declare = (command, { act }) => {
  withSeedFlags(command)
    .argument(
      "[path...]",
      "files or folders, or - for stdin (default: those of the server or of the data; for new data, those of start)",
    )
    .addHelpText("after", examples("idp seed", "idp seed --check fixtures/", "idp seed --fields settings"))
    .action(act(seed));
};
