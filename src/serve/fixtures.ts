import type { Context } from "../core/context.ts";
import { OperationError } from "../core/errors.ts";
import { createTurns } from "../core/turns.ts";
import type { FixtureFile } from "../core/fixtures/schema/schema.ts";
import type { FixtureSource } from "../core/fixtures/read/source.ts";
import { isObject } from "../core/json-object.ts";
import { builtInDemo, findFixtures } from "../fixture-files.ts";
import type { IdpOptions, OneFixture } from "./options.ts";

/** The sections of a fixture have other names than the fields of a source. */
const isSource = (one: FixtureFile | FixtureSource): one is FixtureSource =>
  isObject(one) && ("value" in one || ("text" in one && "name" in one));

/** Reads the fixtures that were given as an option. @throws {OperationError} invalid, for files that cannot be read */
export function sourcesOf(given: IdpOptions["fixtures"]): readonly FixtureSource[] {
  const fixtures = typeof given === "function" ? given() : given;
  if (fixtures === undefined) return [builtInDemo()];
  const all = Array.isArray(fixtures) ? (fixtures as readonly OneFixture[]) : [fixtures as OneFixture];
  return all.flatMap((one) => {
    if (typeof one === "string") return findFixtures([one], process.cwd()).sources;
    return [isSource(one) ? one : { value: one }];
  });
}

/** A copy: a reset goes back to the value as it was, even if the caller changes it later. */
const copyOf = (source: FixtureSource): FixtureSource =>
  "text" in source || source.builtIn === true ? source : { value: structuredClone(source.value) };

/**
 * The fixtures that a server uses, and a reset goes back to.
 * @param given the option; a function is called again for the latest fixtures, until others are used
 * @param applied what it returned at the start
 */
export function fixturesInUse(given: IdpOptions["fixtures"], applied: readonly FixtureSource[]): Context["fixtures"] {
  let sources = applied.map(copyOf);
  let read = typeof given === "function" ? given : null;
  let latest: readonly FixtureSource[] = sources;
  return {
    sources: () => sources,
    latest: () => (latest = read === null ? sources : sourcesOf(read)),
    use(used) {
      if (used !== latest) read = null;
      sources = used.map(copyOf);
    },
    inTurn: createTurns(),
  };
}

/** Those of an issuer that was made with fixtures of its own, by a process that has ended: their passwords may not be kept. */
export function lostFixtures(name: string | null): Context["fixtures"] {
  let sources: readonly FixtureSource[] | null = null;
  const latest = (): readonly FixtureSource[] => {
    if (sources !== null) return sources;
    throw new OperationError("conflict", `the fixtures of issuer "${name ?? ""}" are not known since the restart`, {
      hint: {
        text: "Name them, or put them under issuers in the fixtures of the server",
        command: ["idp", "reset", "--issuer", name ?? "", "--fixtures", "PATH"],
      },
    });
  };
  return {
    sources: () => sources ?? [],
    latest,
    use(used) {
      sources = used.map(copyOf);
    },
    inTurn: createTurns(),
  };
}
