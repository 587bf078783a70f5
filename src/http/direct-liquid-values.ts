import { TypeGuards } from "liquidjs";
import type { Context, Token, Value } from "liquidjs";

/** What stands in `{{ }}` and in conditions, as functions: for `direct-liquid.ts`. */

/** Undefined: liquidjs has to do it. */
type Evaluate = (ctx: Context) => unknown;

/** What liquidjs keeps to itself of a context. */
interface Scopes {
  findScope(name: string): object;
}

/** As Liquid has it: an empty text is true. */
export const isTrue = (value: unknown): boolean => value !== false && value !== null;
const isPlain = (value: unknown): boolean => value === null || ["string", "number", "boolean"].includes(typeof value);

const binary: Readonly<Record<string, (left: unknown, right: unknown) => unknown>> = {
  "==": (left, right) => (isPlain(left) && isPlain(right) ? left === right : undefined),
  "!=": (left, right) => (isPlain(left) && isPlain(right) ? left !== right : undefined),
  ">": (left, right) => (typeof left === "number" && typeof right === "number" ? left > right : undefined),
  and: (left, right) => isTrue(left) && isTrue(right),
  or: (left, right) => isTrue(left) || isTrue(right),
};

/** The member of a value; what is more than a member of a plain object is liquidjs's to read. */
function read(ctx: Context, from: unknown, name: string): unknown {
  if (typeof from === "object" && from !== null && Object.hasOwn(from, name)) {
    const value = (from as Readonly<Record<string, unknown>>)[name];
    if (typeof value !== "function" && !("toLiquid" in from)) return value;
  }
  return ctx.readProperty(from as object, name);
}

/** A literal, or a path of names: `client.name`; null for anything else. */
export function evaluateToken(token: Token | undefined): Evaluate | null {
  if (token === undefined) return null;
  if (TypeGuards.isPropertyAccessToken(token)) {
    const names = token.props.map((prop) => (TypeGuards.isWordToken(prop) ? prop.content : null));
    const [first] = names;
    if (token.variable !== undefined || first == null || names.includes(null)) return null;
    return (ctx) => {
      let value: unknown = (ctx as unknown as Scopes).findScope(first);
      for (const name of names) {
        value = read(ctx, value, name ?? "");
        if (value === undefined) return undefined;
      }
      return value;
    };
  }
  if (TypeGuards.isLiteralToken(token)) {
    const literal = { true: true, false: false, null: null, nil: null }[token.literal as string];
    return literal === undefined ? null : () => literal;
  }
  if (TypeGuards.isQuotedToken(token) || TypeGuards.isNumberToken(token)) {
    const { content } = token;
    return () => content;
  }
  return null;
}

/** A condition or a value; null where something in it is none of ours. */
export function evaluateValue({ initial }: Pick<Value, "initial">): Evaluate | null {
  const operands: Evaluate[] = [];
  for (const token of initial.postfix) {
    if (!TypeGuards.isOperatorToken(token)) {
      const operand = evaluateToken(token);
      if (operand === null) return null;
      operands.push(operand);
      continue;
    }
    const operate = binary[token.operator];
    const [right, left] = [operands.pop(), operands.pop()];
    if (operate === undefined || left === undefined || right === undefined) return null;
    operands.push((ctx) => {
      const [a, b] = [left(ctx), right(ctx)];
      return a === undefined || b === undefined ? undefined : operate(a, b);
    });
  }
  return operands.length === 1 ? (operands[0] ?? null) : null;
}

/** Named values; null where one of them is no path and no literal. */
export function evaluateHash(hash: Readonly<Record<string, Token | undefined>>) {
  const entries = Object.entries(hash).map(([name, token]) => [name, evaluateToken(token)] as const);
  if (entries.some(([, evaluate]) => evaluate === null)) return null;
  return (ctx: Context, into: Record<string, unknown>): boolean => {
    for (const [name, evaluate] of entries) {
      const value = evaluate?.(ctx);
      if (value === undefined) return false;
      into[name] = value;
    }
    return true;
  };
}
