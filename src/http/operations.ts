import type { Context } from "../core/context.ts";

/**
 * Every operation of the control API, once: its route, what it takes, and the function of the core that does it.
 * A running server mounts the table below `/_idp/api` (`api.ts`); the command line runs the same functions on a data folder.
 */

/** What a field of an input holds; `?`: it may be absent. Path parameters and query values are text, "true" for a boolean. */
type FieldKind = "string" | "string?" | "boolean?" | "array?" | "object?";
export type Fields = Readonly<Record<string, FieldKind>>;

interface KindTypes {
  string: string;
  "string?": string;
  "boolean?": boolean;
  "array?": readonly unknown[];
  "object?": Readonly<Record<string, unknown>>;
}
type Optional<F extends Fields> = { [K in keyof F]: F[K] extends `${string}?` ? K : never }[keyof F];

/** The type of the input that a table of fields describes. */
export type InputOf<F extends Fields> = { readonly [K in Exclude<keyof F, Optional<F>>]: KindTypes[F[K]] } & {
  readonly [K in Optional<F>]?: KindTypes[F[K]] | undefined;
};

/** The server that runs an operation; a command that works on a folder has none. */
export interface RunningServer {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly version: string;
}

export interface Operation<F extends Fields = Fields, O = unknown> {
  readonly method: "GET" | "POST";
  /** Below `/_idp/api`. */
  readonly path: string;
  readonly status: 200 | 201;
  readonly fields: F;
  /** It changes data: the command line says where. */
  readonly changes: boolean;
  /** Codes live in the server's memory, so that some operations mean nothing without one. */
  readonly needsServer: boolean;
  /** Bytes of a request body. */
  readonly bodyLimit: number;
  run(ctx: Context, input: InputOf<F>, server: RunningServer | null): Promise<O>;
}

/** CONTRACT 2.6. */
const usualBody = 102_400;
const fixtureBody = 64 * 1024 * 1024;

type Run<F extends Fields, O> = Operation<F, O>["run"];

const reads = <const F extends Fields, O>(path: string, fields: F, run: Run<F, O>): Operation<F, O> => ({
  method: "GET",
  path,
  status: 200,
  fields,
  changes: false,
  needsServer: false,
  bodyLimit: usualBody,
  run,
});

const changes = <const F extends Fields, O>(
  path: string,
  fields: F,
  run: Run<F, O>,
  special: Partial<Pick<Operation, "status" | "changes" | "needsServer" | "bodyLimit">> = {},
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

const users = () => import("../core/users.ts");
const clients = () => import("../core/clients-admin.ts");
const grants = () => import("../core/grants.ts");
const issue = () => import("../core/issue.ts");

export const operations = {
  "users.list": reads("/users", {}, async (ctx) => (await users()).listUsers(ctx)),
  "users.show": reads("/users/:username", { username: "string" }, async (ctx, input) =>
    (await users()).showUser(ctx, input),
  ),
  "users.suspend": changes("/users/:username/suspend", { username: "string" }, async (ctx, input) =>
    (await users()).suspendUser(ctx, input),
  ),
  "users.ban": changes("/users/:username/ban", { username: "string" }, async (ctx, input) =>
    (await users()).banUser(ctx, input),
  ),
  "users.restore": changes("/users/:username/restore", { username: "string" }, async (ctx, input) =>
    (await users()).restoreUser(ctx, input),
  ),
  "clients.list": reads("/clients", { secrets: "boolean?" }, async (ctx, input) =>
    (await clients()).listClients(ctx, input),
  ),
  "clients.show": reads("/clients/:client_id", { client_id: "string", secrets: "boolean?" }, async (ctx, input) =>
    (await clients()).showClient(ctx, input),
  ),
  "grants.list": reads("/grants", { user: "string?", client: "string?" }, async (ctx, input) =>
    (await grants()).listGrants(ctx, input),
  ),
  "grants.show": reads("/grants/:id", { id: "string" }, async (ctx, input) => (await grants()).showGrant(ctx, input)),
  "issue.grant": changes(
    "/issue/grant",
    { user: "string", client: "string", scope: "string?" },
    async (ctx, input) => (await issue()).issueGrant(ctx, input),
    { status: 201 },
  ),
  "issue.code": changes(
    "/issue/code",
    {
      user: "string",
      client: "string",
      scope: "string?",
      redirect_uri: "string?",
      nonce: "string?",
      state: "string?",
      code_challenge: "string?",
      code_challenge_method: "string?",
    },
    async (ctx, input) => (await issue()).issueCode(ctx, input),
    { status: 201, needsServer: true },
  ),
  "issue.tokens": changes(
    "/issue/tokens",
    { user: "string", client: "string", scope: "string?", nonce: "string?" },
    async (ctx, input) => (await issue()).issueTokens(ctx, input),
    { status: 201 },
  ),
  revoke: changes("/revoke", { user: "string?", client: "string?", grant: "string?" }, async (ctx, input) =>
    (await grants()).revokeGrants(ctx, input),
  ),
  "token.verify": changes(
    "/token/verify",
    { token: "string", audience: "string?" },
    async (ctx, input) => (await import("../core/verify.ts")).verifyToken(ctx, input),
    { changes: false },
  ),
  "token.revoke": changes("/token/revoke", { token: "string" }, async (ctx, input) =>
    (await import("../core/revoke.ts")).revokeToken(ctx, input),
  ),
  status: reads("/status", {}, async (ctx, _input, server) => ({
    ...(await (await import("../core/status.ts")).status(ctx)),
    server,
  })),
  /** The route ends the server once the answer is out. */
  stop: changes("/stop", {}, async (_ctx, _input, server) => ({ stopping: true, pid: server?.pid }), {
    changes: false,
    needsServer: true,
  }),
};

export type OperationName = keyof typeof operations;
export type OperationInput<N extends OperationName> = Parameters<(typeof operations)[N]["run"]>[1];
export type OperationOutput<N extends OperationName> = Awaited<ReturnType<(typeof operations)[N]["run"]>>;

/** Runs an operation by its name. @throws {OperationError | OAuthError} what the operation refuses */
export function runOperation<N extends OperationName>(
  ctx: Context,
  name: N,
  input: OperationInput<N>,
  server: RunningServer | null,
): Promise<OperationOutput<N>> {
  const operation = operations[name] as unknown as Operation<Fields, OperationOutput<N>>;
  return operation.run(ctx, input as unknown as InputOf<Fields>, server);
}
