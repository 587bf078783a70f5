/*
 * core/base/fixture-files: from the text of a fixture file to values with positions. source.ts chooses json.ts or yaml.ts; located.ts finds
 * the position of each value; problems.ts adds line and column to each problem; explain.ts words what the schema reports; digest.ts shows
 * what changed since the last time; named-files.ts has the pictures and the metadata of service providers that a file names.
 */
import { isUtf8 } from "node:buffer";
import type { KeptFixture } from "../../../store/store.ts";
import { isObject } from "../../../text/json.ts";
import {
  tooManyAliases,
  maxAliased,
  emptyFile,
  lineCounter,
  maxDepth,
  roundedFractions,
  type LocatedFile,
  type RepeatedKey,
} from "./located.ts";
import { pause } from "../turns.ts";
import { withFiles, type FileOfLogo, type FileOfMetadata } from "./named-files.ts";
import { createFindings, refuseFixtures, type FoundProblem, type ProblemSource } from "./problems.ts";

/** Fixtures as they are given: the text of a file, or a value from a program or a request. */
export type FixtureSource =
  | {
      readonly name: string;
      readonly text: string;
      /** The absolute path of the folder of the file. Absent for text that is not from a file. */
      readonly folder?: string;
      /** The logos that the text names by paths, once their files were read. */
      readonly logos?: Readonly<Record<string, FileOfLogo>>;
      /** The metadata of service providers that it names by paths. */
      readonly metadata?: Readonly<Record<string, FileOfMetadata>>;
    }
  | {
      readonly value: unknown;
      /** The built-in demo. A test checks it against every rule, so it is not checked again here. */
      readonly builtIn?: true;
    };

/** The sources that are files: a command sends their text, so that problems have positions, and the files that they name. */
export const filesIn = (sources: readonly FixtureSource[]) =>
  sources.flatMap((source) => {
    if (!("text" in source)) return [];
    const { name, text, logos, metadata } = source;
    return [{ name, text, ...(logos !== undefined && { logos }), ...(metadata !== undefined && { metadata }) }];
  });

/** Fixtures that are given, or that the data keeps. */
export type AnyFixtures = FixtureSource | KeptFixture;

/** A source that was read. */
export interface FixtureDocument extends ProblemSource {
  /** Set if it was checked before; it has the digests of the passwords of its users. */
  readonly kept?: KeptFixture;
  readonly value: unknown;
  /** Problems of its text, and of values that no fixture can hold. If the text cannot be read, the value is undefined. */
  readonly found: readonly FoundProblem[];
}

/**
 * The text of a file.
 * @throws {OperationError} invalid, with the position of the first byte that is not UTF-8
 */
export function decodeFixture(name: string, bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  if (isUtf8(bytes)) return text;
  const bad = /\ufffd/g;
  let offset = 0;
  while (bad.exec(text) !== null) {
    offset = bad.lastIndex - 1;
    const before = Buffer.byteLength(text.slice(0, offset)) + (startsWithBom(bytes) ? 3 : 0);
    if (!(bytes[before] === 0xef && bytes[before + 1] === 0xbf && bytes[before + 2] === 0xbd)) break;
  }
  const message = "this is not UTF-8; save the file in UTF-8";
  throw refuseFixtures([{ name, text, locate: () => undefined }], [{ document: 0, path: [], message, at: offset }]);
}

const startsWithBom = (bytes: Uint8Array): boolean => bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Reads a source; its problems are in `found`. Loads only the parser that it needs. */
export async function readSource(source: AnyFixtures): Promise<FixtureDocument> {
  if ("digests" in source) {
    return { name: source.name, text: null, locate: () => undefined, value: source.value, found: [], kept: source };
  }
  if ("value" in source) {
    const origin = { name: null, text: null, locate: () => undefined };
    if (source.builtIn === true) return { ...origin, value: source.value, found: [] };
    await pause();
    const vetted = vet(source.value, false);
    // A copy, because records are frozen, and the value belongs to the caller.
    return { ...origin, ...vetted, value: vetted.found.length === 0 ? structuredClone(vetted.value) : vetted.value };
  }
  const text = source.text.startsWith("\ufeff") ? source.text.slice(1) : source.text;
  const { name } = source;
  if (text.trim() === "") {
    const found = [{ path: [], message: emptyFile, at: 0 }];
    return { name, text, locate: () => undefined, value: undefined, found };
  }
  const document = await (isYaml(name, text) ? readYamlSource(name, text) : readJsonSource(name, text));
  return withFiles(document, source.logos ?? {}, source.metadata ?? {});
}

/** The names of the users whose e-mail address is null. @param sources checked ones */
export async function usersWithoutEmail(sources: readonly FixtureSource[]): Promise<readonly string[]> {
  const documents = await Promise.all(sources.map(readSource));
  const users = documents.flatMap(({ value }): readonly unknown[] =>
    isObject(value) && Array.isArray(value["users"]) ? (value["users"] as readonly unknown[]) : [],
  );
  return users.flatMap((user) =>
    isObject(user) && user["email"] === null && typeof user["username"] === "string" ? user["username"] : [],
  );
}

/** Decides by the name of the file; without one, as from standard input, by the beginning of the text. */
function isYaml(name: string, text: string): boolean {
  if (/\.\w+$/.test(name)) return /\.ya?ml$/i.test(name);
  return !/^\s*[[{/]/.test(text);
}

/** The parts of the work on a large text go one after another, with time for others between them. */
export async function readYamlSource(name: string, text: string): Promise<FixtureDocument> {
  const { readYaml, locateYaml, lostZeros, roundedNames } = await import("./yaml.ts");
  const file = once(() => locateYaml(text));
  const origin = { name, text, locate: () => locateYaml(text).root };
  await pause();
  let read = readYaml(text, false);
  if (read === "repeats") {
    await pause();
    // Again with fields that occur twice, so that all problems of a file are found in one run.
    read = readYaml(text, true);
  }
  if ("syntax" in read) return { ...origin, value: undefined, found: [syntaxFound(read.syntax)] };
  await pause();
  const vetted = vet(read.value, true);
  // Of what cannot be checked further, nothing else is said.
  if (vetted.value === undefined) return { ...origin, ...vetted };
  const found = createFindings<FoundProblem>();
  found.add(vetted.found);
  await pause();
  if (read.repeats) found.add(twice(text, file().repeated));
  await pause();
  for (const path of roundedNames(text, file)) found.addOne(() => ({ path, message: rounded, at: "key" }));
  await pause();
  for (const path of await lostZeros(text, file, read.value)) found.addOne(() => ({ path, message: lost }));
  await pause();
  found.add(lostDigits(text, file, vetted.value));
  return { ...origin, ...vetted, found: found.all() };
}

/** Computes a value when it is first needed. */
function once<T>(compute: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: compute() }).value;
}

/** The fields that occur twice in one object, each with both lines. */
function twice(text: string, repeated: readonly RepeatedKey[]): readonly FoundProblem[] {
  if (repeated.length === 0) return [];
  const position = lineCounter(text);
  const found = createFindings<FoundProblem>();
  for (const { path, start, firstStart } of repeated) {
    const message = (): string => `occurs twice in its object; first on line ${position(firstStart).line}`;
    found.addOne(() => ({ path, message: message(), at: start }));
  }
  return found.all();
}

const lost = "is a number that would lose a zero: put it in quotes";

const lostDigits = (text: string, file: () => LocatedFile, value: unknown): readonly FoundProblem[] =>
  roundedFractions(text, file, value).map((path) => ({
    path,
    message: "is a number that would lose digits: put it in quotes",
  }));

async function readJsonSource(name: string, text: string): Promise<FixtureDocument> {
  const { readJson, locateJson } = await import("./json.ts");
  const file = once(() => locateJson(text));
  const origin = { name, text, locate: () => locateJson(text).root };
  await pause();
  const read = readJson(text);
  if (read === undefined) {
    const { syntax = { offset: 0, message: "this is not JSON" } } = file();
    return { ...origin, value: undefined, found: [syntaxFound(syntax)] };
  }
  const vetted = vet(read.value, false);
  if (vetted.value === undefined) return { ...origin, ...vetted };
  const found = createFindings<FoundProblem>();
  found.add(vetted.found);
  await pause();
  found.add(twice(text, file().repeated));
  await pause();
  found.add(lostDigits(text, file, vetted.value));
  return { ...origin, ...vetted, found: found.all() };
}

const syntaxFound = ({ offset, message }: { offset: number; message: string }): FoundProblem => ({
  path: [],
  message,
  at: offset,
});

/**
 * Refuses what no fixture can contain, before anything else looks at the value: deep nesting, `__proto__`, values that JSON does not have,
 * and YAML aliases that expand without bounds (each one refers to a list of others).
 * @param isYaml it was read from a text, in which what occurs again is there by an alias
 * @returns the value, undefined if it cannot be checked further; and the problems
 */
export function vet(
  root: unknown,
  isYaml: boolean,
): { readonly value: unknown; readonly found: readonly FoundProblem[] } {
  const found = createFindings<FoundProblem>();
  const path: (string | number)[] = [];
  const seen = new Set<object>();
  /** How many values are there by aliases, and in how many aliases the current one is. */
  let aliased = 0;
  let within = 0;

  function refuse(message: string, at?: "key"): void {
    found.addOne(() => ({ path: [...path], message, ...(at !== undefined && { at }) }));
  }

  /** @returns false to stop: nothing more is checked */
  function visit(value: unknown): boolean {
    if (!isYaml || typeof value !== "object" || value === null) return look(value);
    const isAlias = seen.has(value);
    seen.add(value);
    if (isAlias) within += 1;
    const goOn = look(value);
    if (isAlias) within -= 1;
    return goOn;
  }

  function look(value: unknown): boolean {
    if (within > 0 && ++aliased > maxAliased) {
      found.add([{ path: [], message: tooManyAliases }]);
      return false;
    }
    const stranger = notJson(value);
    if (stranger !== null) {
      refuse(`is ${stranger}, which JSON does not have`);
      return true;
    }
    if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) refuse(rounded);
    if (typeof value !== "object" || value === null) return true;
    if (path.length >= maxDepth) {
      found.add([{ path: path.slice(0, 3), message: `contains something nested more than ${maxDepth} deep` }]);
      return false;
    }
    if (Array.isArray(value)) return value.every((item, index) => step(index, item));
    return Object.entries(value).every(([key, inner]) => step(key, inner));
  }

  function step(name: string | number, value: unknown): boolean {
    path.push(name);
    if (name === "__proto__") refuse("cannot be the name of a field", "key");
    const goOn = visit(value);
    path.pop();
    return goOn;
  }

  return { value: visit(root) ? root : undefined, found: found.all() };
}

/** What of a value no fixture can hold. */
export const notKeepable = (value: unknown): readonly FoundProblem[] => vet(value, false).found;

/** JavaScript represents integers exactly only up to 2^53; a larger one would have other digits in a token. */
const rounded = "is a number beyond 2^53, and would lose digits: put it in quotes";

/** The kind of a value that JSON does not have; null for other values, and for `undefined`, an absent field. */
function notJson(value: unknown): string | null {
  if (typeof value === "string" || typeof value === "boolean" || value === null || value === undefined) return null;
  if (typeof value === "number") return Number.isFinite(value) ? null : String(value);
  if (typeof value !== "object") return `a ${typeof value}`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null || Array.isArray(value)) return null;
  return `a ${value.constructor.name}`;
}

/** 64 MB for fixtures and exports. */
export const fixtureBody = 64 * 1024 * 1024;

/** The fixtures of an input: files that a command has read, whose problems name them, or one document. Undefined: none are given. */
export function sourcesOf(input: {
  readonly sources?: readonly FixtureSource[] | undefined;
  readonly fixtures?: unknown;
}): readonly FixtureSource[] | undefined {
  return input.sources ?? (input.fixtures === undefined ? undefined : [{ value: input.fixtures }]);
}
