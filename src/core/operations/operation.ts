import type { ZodType } from "zod";
import type { Context } from "../context.ts";
import { OperationError } from "../errors.ts";
import type { CommandLine } from "../hint.ts";
import type { Opener } from "../inspector/access.ts";
import type { Role } from "../operators/roles.ts";
import type { z, Input, LazySchema } from "./schemas/zod.ts";

/** The type of an operation, and the helpers that the files of the nouns declare theirs with. */

/** What a server says of itself. */
export interface RunningServer {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
}

/** Who runs an operation. */
export interface Runner {
  /** Whose request to a running server it is. Absent: a command that works on a folder, or a program that uses the library. */
  readonly by?: Opener;
  /** Null: a command that works on a folder, or a program that uses the library. */
  readonly server: RunningServer | null;
  /** Writes the commands in what it returns. Absent: quoted for a terminal here. */
  readonly commandLine?: CommandLine;
  /** Called with how far a long operation is. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** What each operation says of itself, in the file of its noun. */
interface Declared<S extends ZodType, O> {
  /** Who may do it; absent: an admin. */
  readonly role?: Role;
  /** One sentence without a period. */
  readonly summary: string;
  /** For the OpenAPI document: the rules that compare the input with records or settings. */
  readonly note?: string;
  /** The body of the API call, its path parameters and its query, in one object. */
  readonly input: LazySchema<S>;
  /** What it returns; the compiler compares it with what `run` returns. */
  readonly answer: LazySchema<ZodType<NoInfer<O>>>;
  /** The refusals beside those that every operation has: a name that is unknown, a state that does not allow it, fixtures with a problem. */
  readonly refuses?: readonly (404 | 409 | 422)[];
  readonly run: (ctx: Context, input: Input<S>, runner: Runner) => Promise<O>;
}

/** How an operation differs from the usual one of its kind. */
interface Special {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** 204: it returns null. */
  readonly status: 200 | 201 | 204;
  /** It changes data, or may have to (a missing key is made), so it fails on a full disk (503). */
  readonly changes: boolean;
  /** It makes the data folder if there is none. */
  readonly createsData: boolean;
  /** It needs a running server. `unless shared`: it works on records that only the memory of a server or a shared store has. */
  readonly needsServer: boolean | "unless shared";
  /** Bytes of a request body. */
  readonly bodyLimit: number;
  /** It concerns the process, and not only the issuer whose API it is asked for at. */
  readonly ofProcess: boolean;
  /** Its answer has secrets. */
  readonly showsSecrets: boolean;
}

export interface Operation<S extends ZodType = ZodType, O = unknown> extends Special {
  /** Below `/_idp/api`. */
  readonly path: string;
  readonly role: Role;
  readonly summary: string;
  readonly note: string | null;
  readonly input: LazySchema<S>;
  readonly answer: LazySchema<ZodType>;
  readonly refuses: readonly (404 | 409 | 422)[];
  /** Checks the input, whoever calls. @throws {OperationError | OAuthError} usage for a wrong input; what the operation refuses */
  run(ctx: Context, input: Input<S>, runner: Runner): Promise<O>;
}

/** Bytes: enough for any single record. */
const usualBody = 102_400;

const usual: Special = {
  method: "POST",
  status: 200,
  changes: true,
  createsData: false,
  needsServer: false,
  bodyLimit: usualBody,
  ofProcess: false,
  showsSecrets: false,
};

function declare<S extends ZodType, O>(
  path: string,
  { role = "admin", summary, note, input, answer, refuses = [], run }: Declared<S, O>,
  special: Partial<Special>,
): Operation<S, O> {
  return {
    ...usual,
    ...special,
    ...{ path, role, summary, note: note ?? null, input, answer, refuses },
    run: async (ctx, given, runner) => {
      const { checkInput } = await import("./schemas/input.ts");
      return run(ctx, await checkInput(input, given), runner);
    },
  };
}

export const reads = <S extends ZodType, O>(
  path: string,
  declared: Declared<S, O>,
  special: Partial<Special> = {},
): Operation<S, O> => declare(path, declared, { method: "GET", changes: false, ...special });

export const changes = <S extends ZodType, O>(
  path: string,
  declared: Declared<S, O>,
  special: Partial<Special> = {},
): Operation<S, O> => declare(path, declared, special);

export const edits = { method: "PATCH" } as const;
export const creates = { status: 201 } as const;
export const removes = { method: "DELETE", status: 204 } as const;

/** Whether it changes something that others see, so that it is kept who asked for it. */
export const isChange = ({ method, role }: Pick<Operation, "method" | "role">): boolean =>
  method !== "GET" && role !== "reader";

/** The input of an operation that takes none. */
export const nothing = (zod: typeof z) => zod.strictObject({});

/** The answer of an operation that returns none. */
export const none = (zod: typeof z) => zod.null();

/** Whose, for whom, and for what; the address of REST and that of `issue` mean the same. */
export const consent = (zod: typeof z) =>
  zod.strictObject({ user: zod.string(), client: zod.string(), scope: zod.string().optional() });

/** The names of the parameters of a path: `username` of `/users/:username`. */
export const pathNames = (path: string): readonly string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);

/** The field of the body that has the name of a path parameter: the new value, where the parameter is the old one. */
export const renamed = (parameter: string): string => `new_${parameter}`;

/**
 * Refuses a name that no path can carry, since HTTP clients remove such segments (RFC 3986 5.2.4). Nothing has one of these names.
 * @throws {OperationError} not_found; usage if something would get the name
 */
function requireSegment({ method, path }: Pick<Operation, "method" | "path">, name: string, value: unknown): void {
  if (value !== "" && value !== "." && value !== "..") return;
  const [, nouns = ""] = path.split("/");
  if (method === "POST" && path.endsWith(`:${name}`))
    throw new OperationError("usage", `"${value}" cannot be the ${name} of a ${nouns.slice(0, -1)}`);
  throw new OperationError("not_found", `no ${nouns.slice(0, -1)} "${value}"`, {
    hint:
      nouns === "workloads"
        ? "Name one of the fixtures, or github-actions, gitlab or kubernetes"
        : { text: `All ${nouns}`, command: ["idp", nouns, "list"] },
  });
}

/** A command asks with this header how far an operation is; an interim response (RFC 8297) says it: `3/10`. */
export const progressHeader = "idp-progress";

/** How an operation is asked for at the control API: the path is below `/_idp/api`. */
export function requestOf(
  operation: Pick<Operation, "method" | "path">,
  input: object,
): { readonly method: string; readonly path: string; readonly body?: string } {
  const { method, path } = operation;
  const values = new Map(Object.entries(input).filter(([, value]) => value !== undefined));
  let filled = path;
  for (const name of pathNames(path)) {
    requireSegment(operation, name, values.get(name));
    filled = filled.replace(`:${name}`, encodeURIComponent(String(values.get(name))));
    values.delete(name);
    if (values.has(renamed(name))) values.set(name, values.get(renamed(name)));
    values.delete(renamed(name));
  }
  if (method === "GET" || method === "DELETE") {
    const query = new URLSearchParams(
      [...values].map(([key, value]): [string, string] => [key, String(value)]),
    ).toString();
    return { method, path: query === "" ? filled : `${filled}?${query}` };
  }
  return { method, path: filled, body: JSON.stringify(Object.fromEntries(values)) };
}

/** The input of an operation from the parts of a request, as {@link requestOf} took it apart. @param others the body, or the query */
export function inputOfRequest(parameters: Readonly<Record<string, unknown>>, others: object): Record<string, unknown> {
  const input: Record<string, unknown> = { ...others };
  for (const [name, value] of Object.entries(parameters)) {
    if (Object.hasOwn(input, name) && input[name] !== value) input[renamed(name)] = input[name];
    input[name] = value;
  }
  return input;
}
