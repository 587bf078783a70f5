import type { Context } from "../context.ts";

/** The type of an operation, and the helpers for the tables of operations. */

/**
 * What a field of an input holds; `?`: it may be absent. Path parameters and query values are text, "true" for a boolean.
 * `body`: the whole of the request's body, an object, which the operation itself checks. */
type FieldKind = "string" | "string?" | "boolean?" | "number?" | "array?" | "any?" | "body";
export type Fields = Readonly<Record<string, FieldKind>>;

interface KindTypes {
  string: string;
  "string?": string;
  "boolean?": boolean;
  "number?": number;
  "array?": readonly unknown[];
  "any?": unknown;
  body: Readonly<Record<string, unknown>>;
}
type Optional<F extends Fields> = { [K in keyof F]: F[K] extends `${string}?` ? K : never }[keyof F];

/** The type of the input that a table of fields describes. */
export type InputOf<F extends Fields> = { readonly [K in Exclude<keyof F, Optional<F>>]: KindTypes[F[K]] } & {
  readonly [K in Optional<F>]?: KindTypes[F[K]] | undefined;
};

/** What a server says of itself. */
export interface RunningServer {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
}

/** Who runs an operation. */
export interface Runner {
  /** Null: a command that works on a folder, or a program that uses the library. */
  readonly server: RunningServer | null;
  /** Called with how far a long operation is. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface Operation<F extends Fields = Fields, O = unknown> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/_idp/api`. */
  readonly path: string;
  /** 204: it returns null. */
  readonly status: 200 | 201 | 204;
  readonly fields: F;
  /** It changes data, or may have to (a missing key is made), so it fails on a full disk (503). */
  readonly changes: boolean;
  /** It makes the data folder if there is none. */
  readonly createsData?: true;
  /**
   * It needs a running server. `unless shared`: it works on records that only the memory of a server or a shared store has.
   */
  readonly needsServer: boolean | "unless shared";
  /** Bytes of a request body. */
  readonly bodyLimit: number;
  run(ctx: Context, input: InputOf<F>, runner: Runner): Promise<O>;
}

/** Bytes: enough for any single record. */
const usualBody = 102_400;

type Run<F extends Fields, O> = Operation<F, O>["run"];

export const reads = <const F extends Fields, O>(path: string, fields: F, run: Run<F, O>): Operation<F, O> => ({
  method: "GET",
  path,
  status: 200,
  fields,
  changes: false,
  needsServer: false,
  bodyLimit: usualBody,
  run,
});

export const changes = <const F extends Fields, O>(
  path: string,
  fields: F,
  run: Run<F, O>,
  special: Partial<Pick<Operation, "method" | "status" | "changes" | "needsServer" | "bodyLimit" | "createsData">> = {},
): Operation<F, O> => ({
  method: "POST",
  path,
  status: 200,
  fields,
  changes: true,
  needsServer: false,
  bodyLimit: usualBody,
  run,
  ...special,
});

export const edits = { method: "PATCH" } as const;
export const creates = { status: 201 } as const;
export const removes = { method: "DELETE", status: 204 } as const;

/** Whose, for whom, and for what; the address of REST and that of `issue` mean the same. */
export const consentFields = { user: "string", client: "string", scope: "string?" } as const;

/** How an operation is asked for at the control API: the path is below `/_idp/api`. @param input as its `fields` say */
export function requestOf(
  { method, path, fields }: Pick<Operation, "method" | "path" | "fields">,
  input: object,
): { readonly method: string; readonly path: string; readonly body?: string } {
  const values: Record<string, unknown> = { ...input };
  const filled = path.replace(/:(\w+)/g, (_match, parameter: string) => {
    const value = encodeURIComponent(String(values[parameter]));
    Reflect.deleteProperty(values, parameter);
    return value;
  });
  const whole = Object.keys(fields).find((field) => fields[field] === "body");
  const given = Object.entries(
    whole === undefined ? values : (Object(values[whole]) as Record<string, unknown>),
  ).filter(([, value]) => value !== undefined);
  if (method === "GET" || method === "DELETE") {
    const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)] as [string, string])).toString();
    return { method, path: method === "GET" && query !== "" ? `${filled}?${query}` : filled };
  }
  return { method, path: filled, body: JSON.stringify(Object.fromEntries(given)) };
}
