import { TypeGuards } from "liquidjs";
import type { Token, Value } from "liquidjs";

/** What stands in `{{ }}` and in conditions, as functions: for `direct-liquid.ts`. */

/** Thrown where liquidjs has to render the page: while a template is turned into functions, or while these run. */
export const unusual = new Error("this page needs liquidjs");

/** The variables of a file that is being rendered, each at its place. */
export type Frame = unknown[];

/** Where in a frame a name stands. */
export type Places = ReadonlyMap<string, number>;

/** Where every frame has `page`, which every file knows, and where a page's own has its data. */
export const [pagePlace, dataPlace] = [0, 1];

/** The entry of those places whose other names are members of the page's data; no variable is called so. */
export const inData = "";

export type Evaluate = (frame: Frame) => unknown;

/** As Liquid has it: an empty text is true. */
export const isTrue = (value: unknown): boolean => value !== false && value !== null;
const isPlain = (value: unknown): boolean => value === null || ["string", "number", "boolean"].includes(typeof value);

function plain(value: unknown): unknown {
  if (!isPlain(value)) throw unusual;
  return value;
}

function numeric(value: unknown): number {
  if (typeof value !== "number") throw unusual;
  return value;
}

const binary: Readonly<Record<string, (left: unknown, right: unknown) => unknown>> = {
  "==": (left, right) => plain(left) === plain(right),
  "!=": (left, right) => plain(left) !== plain(right),
  ">": (left, right) => numeric(left) > numeric(right),
  and: (left, right) => isTrue(left) && isTrue(right),
  or: (left, right) => isTrue(left) || isTrue(right),
};

/** A member of what a page was given: plain objects, and lists, which have a size. */
function member(from: unknown, name: string): unknown {
  if (typeof from !== "object" || from === null) throw unusual;
  if (Array.isArray(from)) {
    if (name === "size") return from.length;
    throw unusual;
  }
  const value = (from as Readonly<Record<string, unknown>>)[name];
  if (value === undefined || typeof value === "function") throw unusual;
  return value;
}

function pathOf(names: readonly (string | null)[], places: Places): Evaluate {
  const [first, ...rest] = names.map((name) => {
    // What every object has is no member of a page's data.
    if (name === null || name in Object.prototype) throw unusual;
    return name;
  });
  if (first === undefined) throw unusual;
  const known = places.get(first);
  if (known === undefined && !places.has(inData)) throw unusual;
  const [place, path] = known === undefined ? [dataPlace, [first, ...rest]] : [known, rest];
  const [one, two] = path;
  if (one === undefined) return (frame) => frame[place];
  if (two === undefined) return (frame) => member(frame[place], one);
  return (frame) => path.reduce(member, frame[place]);
}

/** A literal, or a path of names: `client.name`. @throws {typeof unusual} for anything else */
export function evaluateToken(token: Token | undefined, places: Places): Evaluate {
  const evaluate = operand(token, places);
  // liquidjs hands over something of its own for `nil`, other than in a condition.
  if (TypeGuards.isLiteralToken(token) && literalOf(token) === null) throw unusual;
  return evaluate;
}

function operand(token: Token | undefined, places: Places): Evaluate {
  if (token === undefined) throw unusual;
  if (TypeGuards.isPropertyAccessToken(token)) {
    if (token.variable !== undefined) throw unusual;
    return pathOf(
      token.props.map((prop) => (TypeGuards.isWordToken(prop) ? prop.content : null)),
      places,
    );
  }
  const literal = literalOf(token);
  return () => literal;
}

/** @throws {typeof unusual} where it is none that is known here */
export function literalOf(token: Token | undefined): unknown {
  if (token === undefined) throw unusual;
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) return token.content;
  const literal = TypeGuards.isLiteralToken(token)
    ? { true: true, false: false, null: null, nil: null }[token.literal as string]
    : undefined;
  if (literal === undefined) throw unusual;
  return literal;
}

/** A condition or a value, without its filters. @throws {typeof unusual} where something in it is none of ours */
export function evaluateValue({ initial }: Pick<Value, "initial">, places: Places): Evaluate {
  const operands: Evaluate[] = [];
  for (const token of initial.postfix) {
    if (!TypeGuards.isOperatorToken(token)) {
      operands.push(operand(token, places));
      continue;
    }
    const operate = binary[token.operator];
    const [right, left] = [operands.pop(), operands.pop()];
    if (operate === undefined || left === undefined || right === undefined) throw unusual;
    operands.push((frame) => operate(left(frame), right(frame)));
  }
  const [value] = operands;
  if (value === undefined || operands.length > 1) throw unusual;
  return value;
}

/** Named values. @throws {typeof unusual} where one of them is no path and no literal */
export function evaluateNamed(
  named: Readonly<Record<string, Token | undefined>>,
  places: Places,
): (frame: Frame) => Record<string, unknown> {
  const entries = Object.entries(named).map(([name, token]) => [name, evaluateToken(token, places)] as const);
  return (frame) => {
    const values: Record<string, unknown> = {};
    for (const [name, evaluate] of entries) values[name] = evaluate(frame);
    return values;
  };
}
