import { deepest, isRounded } from "../../../text/json.ts";

/** The positions of values in a file. Computed only when something is wrong, because it takes several times as long as reading the file. */

/** The path from the top of a file to a value: names of fields and indexes in lists. */
export type Path = readonly (string | number)[];

/** How deep a file may nest. A deeper one is a mistake or an attack. */
export const maxDepth = deepest;

/** How many values of a text may be there by aliases: a few lines expand to millions. */
export const maxAliased = 10_000;
export const tooManyAliases =
  "its aliases and merge keys stand for more than 10,000 values: write them out, or use fewer";

/** The problem of an empty file. */
export const emptyFile = "the file is empty; write {} for no fixtures";

/**
 * A value of a file with its place; offsets count UTF-16 units from 0. The fields of an object are a map, because a file may have as many wrong
 * keys as it likes: a search among all fields for each of them would cost the square.
 */
export interface Located {
  readonly start: number;
  readonly fields?: Map<string, { readonly keyStart: number; readonly value: Located }>;
  readonly items?: Located[];
}

/** A field that occurs twice in one object. */
export interface RepeatedKey {
  readonly path: Path;
  readonly start: number;
  readonly firstStart: number;
}

/** A position as editors show it: line and column count from 1. */
interface Position {
  readonly line: number;
  readonly column: number;
}

/** The positions of a whole file. */
export interface LocatedFile {
  readonly root: Located | undefined;
  readonly repeated: readonly RepeatedKey[];
}

/** Collects the positions while a parser walks through a file. */
export class Locator implements LocatedFile {
  root: Located | undefined;
  readonly repeated: RepeatedKey[] = [];
  /** The collections that have not ended, and the field of each that was read last. */
  readonly #open: { readonly node: Located; name: string; keyStart: number | null }[] = [];

  /** Whether what comes next is the name of a field. */
  get expectsName(): boolean {
    const around = this.#open.at(-1);
    return around?.node.fields !== undefined && around.keyStart === null;
  }

  /** @param mayRepeat whether the field may occur twice in its object */
  addName(name: string, start: number, mayRepeat = false): void {
    const around = this.#open.at(-1);
    if (around === undefined) return;
    const first = around.node.fields?.get(name);
    if (first !== undefined && !mayRepeat)
      this.repeated.push({ path: [...this.#path(), name], start, firstStart: first.keyStart });
    around.name = name;
    around.keyStart = start;
  }

  /** @param node undefined: the value has no characters of its own, and is where its field or list begins */
  addValue(node: Located | undefined): void {
    const around = this.#open.at(-1);
    if (around === undefined) this.root ??= node;
    else if (around.node.items !== undefined) around.node.items.push(node ?? around.node);
    else if (around.keyStart !== null) {
      const { name, keyStart } = around;
      around.node.fields?.set(name, { keyStart, value: node ?? { start: keyStart } });
      around.keyStart = null;
    }
  }

  /** What comes next is in this list or object, until `end`. */
  begin(node: Located): void {
    this.#open.push({ node, name: "", keyStart: null });
  }

  end(): void {
    this.#open.pop();
  }

  /** The path of the innermost collection. */
  #path(): Path {
    return this.#open.slice(0, -1).map(({ node, name }) => (node.items === undefined ? name : node.items.length - 1));
  }
}

/**
 * The offset of the value at a path, or of its key. If that is not in the text itself (the field is missing, or comes from a YAML alias),
 * the offset of the innermost value around it.
 */
export function offsetOf(root: Located, path: Path, on: "key" | "value"): number {
  let node = root;
  let offset = root.start;
  for (const [depth, step] of path.entries()) {
    const field = typeof step === "string" ? node.fields?.get(step) : undefined;
    const next = typeof step === "number" ? node.items?.[step] : field?.value;
    if (next === undefined) return offset;
    offset = on === "key" && depth === path.length - 1 && field !== undefined ? field.keyStart : next.start;
    node = next;
  }
  return offset;
}

/** The paths of the numbers without quotes whose text passes a test. @param whole the value of the text */
export function numbersIn(
  text: string,
  root: Located | undefined,
  whole: unknown,
  test: (number: string) => boolean,
): readonly Path[] {
  const found: Path[] = [];
  const visit = (value: unknown, { start, fields, items }: Located, path: Path): void => {
    // 400 characters write any number that is not infinite.
    if (typeof value === "number" && test(text.slice(start, start + 400))) found.push(path);
    if (typeof value !== "object" || value === null) return;
    for (const [index, item] of (items ?? []).entries()) visit(Reflect.get(value, index), item, [...path, index]);
    for (const [name, one] of fields ?? []) visit(Reflect.get(value, name), one.value, [...path, name]);
  };
  if (root !== undefined) visit(whole, root, []);
  return found;
}

/** Whether a text may have a fraction that JavaScript rounds: with 16 digits or more, or near zero. */
const mayLoseDigits = /(?:^|[\s[,:])[-+]?(?=[\d.]{17})\d+\.\d|\de-\d{3}/im;
const decimal = /^[-+]?(\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?![\w.])/i;

/** The fractions that JavaScript would round; integers are checked by their value. @param file the positions, which take long to find */
export function roundedFractions(text: string, file: () => LocatedFile, whole: unknown): readonly Path[] {
  if (!mayLoseDigits.test(text)) return [];
  return numbersIn(text, file().root, whole, (number) => {
    const digits = decimal.exec(number)?.[1] ?? "0";
    return Math.abs(Number(digits)) <= Number.MAX_SAFE_INTEGER && isRounded(digits);
  });
}

/** Converts offsets of a text to lines and columns; CR LF is one line break. */
export function lineCounter(text: string): (offset: number) => Position {
  const starts = [0];
  for (const match of text.matchAll(/\r\n|\n|\r/g)) starts.push(match.index + match[0].length);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
}

const plainName = /^[A-Za-z_$][\w$]*$/;

/** A path as it is shown: `users[2].email`, `scopes["orders:read"].claims`; `$` is the whole file. */
export function pathText(path: Path): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (plainName.test(step)) text += text === "" ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text === "" ? "$" : text;
}
