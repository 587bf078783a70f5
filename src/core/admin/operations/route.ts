import { OperationError } from "../../base/errors.ts";
import type { Role } from "../../records/operators/roles.ts";

/** What is known of an operation before its file is loaded. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/_idp/api`. */
  readonly path: string;
  /** Who may do it. */
  readonly role: Role;
  /** One sentence without a period. */
  readonly summary: string;
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

/** Bytes: enough for any single record. */
const usualBody = 102_400;

const usual = {
  status: 200,
  changes: true,
  createsData: false,
  needsServer: false,
  bodyLimit: usualBody,
  ofProcess: false,
  showsSecrets: false,
} as const;

type Make = (path: string, role: Role, summary: string, special?: Partial<Route>) => Route;

export const post: Make = (path, role, summary, special) => ({
  ...usual,
  method: "POST",
  path,
  role,
  summary,
  ...special,
});
export const get: Make = (path, role, summary, special) =>
  post(path, role, summary, { method: "GET", changes: false, ...special });
export const create: Make = (path, role, summary, special) => post(path, role, summary, { status: 201, ...special });
export const patch: Make = (path, role, summary, special) => post(path, role, summary, { method: "PATCH", ...special });
export const remove: Make = (path, role, summary, special) =>
  post(path, role, summary, { method: "DELETE", status: 204, ...special });

/** The routes of the operations in a file, each with what loads the rest of it. */
export const from = <B extends object>(
  load: () => Promise<B>,
  routes: Readonly<Record<keyof B, Route>>,
): { readonly [N in keyof B]: Route & { readonly load: () => Promise<B[N]> } } =>
  Object.fromEntries(
    Object.entries<Route>(routes).map(([name, route]) => [
      name,
      { ...route, load: async () => (await load())[name as keyof B] },
    ]),
  ) as unknown as { readonly [N in keyof B]: Route & { readonly load: () => Promise<B[N]> } };

/** Whether it changes something that others see, so that it is kept who asked for it. */
export const isChange = ({ method, role }: Pick<Route, "method" | "role">): boolean =>
  method !== "GET" && role !== "reader";

/** The names of the parameters of a path: `username` of `/users/:username`. */
export const pathNames = (path: string): readonly string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);

/** The field of the body that has the name of a path parameter: the new value, where the parameter is the old one. */
export const renamed = (parameter: string): string => `new_${parameter}`;

/**
 * Refuses a name that no path can carry, since HTTP clients remove such segments (RFC 3986 5.2.4). Nothing has one of these names.
 * @throws {OperationError} not_found; usage if something would get the name
 */
function requireSegment({ method, path }: Pick<Route, "method" | "path">, name: string, value: unknown): void {
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
  operation: Pick<Route, "method" | "path">,
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
