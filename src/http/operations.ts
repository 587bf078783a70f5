import type { Context } from "../core/context.ts";
import { OperationError } from "../core/errors.ts";
import type { FixtureSource } from "../core/fixtures/source.ts";
import { checkInput } from "./operation-input.ts";

/**
 * Every operation of the control API, once: its route, what it takes, and the function of the core that does it.
 * A running server mounts the table below `/_idp/api` (`api.ts`); the command line runs the same functions on a data folder.
 */

/** What a field of an input holds; `?`: it may be absent. Path parameters and query values are text, "true" for a boolean.
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
  /** Is told how far a long operation is. */
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface Operation<F extends Fields = Fields, O = unknown> {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** Below `/_idp/api`. */
  readonly path: string;
  /** 204: it returns null. */
  readonly status: 200 | 201 | 204;
  readonly fields: F;
  /** It changes data, or may have to (a key that is missing), which a full disk refuses (503). */
  readonly changes: boolean;
  /** It makes the data folder where there is none. */
  readonly createsData?: true;
  /** Codes live in the server's memory, so that some operations mean nothing without one. */
  readonly needsServer: boolean;
  /** Bytes of a request body. */
  readonly bodyLimit: number;
  run(ctx: Context, input: InputOf<F>, runner: Runner): Promise<O>;
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

const edits = { method: "PATCH" } as const;
const creates = { status: 201 } as const;
const removes = { method: "DELETE", status: 204 } as const;

const users = () => import("../core/users.ts");
const usersEdit = () => import("../core/users-edit.ts");
const clients = () => import("../core/clients-admin.ts");
const clientsEdit = () => import("../core/clients-edit.ts");
const grants = () => import("../core/grants.ts");
const sessions = () => import("../core/sessions-admin.ts");
const keys = () => import("../core/keys-admin.ts");
const issue = () => import("../core/issue.ts");

/** Whose, for whom, and for what; the address of REST and that of `issue` mean the same. */
const consent = { user: "string", client: "string", scope: "string?" } as const;

/** Fixture files that a command has read: their names are in what is wrong with them. @throws {OperationError} usage */
const texts = (sources: readonly unknown[]): FixtureSource[] =>
  sources.map((source) => {
    const { name, text } = Object(source) as Readonly<Record<string, unknown>>;
    if (typeof name === "string" && typeof text === "string") return { name, text };
    throw new OperationError("usage", "each of sources has to have a name and a text");
  });

/** Files, or one document. @throws {OperationError} usage, for both at once */
function meantBy(sources: readonly unknown[] | undefined, document: unknown): readonly FixtureSource[] | undefined {
  if (sources === undefined) return document === undefined ? undefined : [{ value: document }];
  if (document === undefined) return texts(sources);
  throw new OperationError("usage", "sources came with a document beside them, and only one of the two can be meant");
}

export const operations = {
  "users.list": reads("/users", { limit: "number?" }, async (ctx, input) => (await users()).listUsers(ctx, input)),
  "users.show": reads("/users/:username", { username: "string" }, async (ctx, input) =>
    (await users()).showUser(ctx, input),
  ),
  "users.add": changes(
    "/users",
    { entry: "body" },
    async (ctx, input) => (await usersEdit()).addUser(ctx, input),
    creates,
  ),
  "users.edit": changes(
    "/users/:username",
    { username: "string", entry: "body" },
    async (ctx, input) => (await usersEdit()).editUser(ctx, input),
    edits,
  ),
  "users.remove": changes(
    "/users/:username",
    { username: "string" },
    async (ctx, input) => (await usersEdit()).removeUser(ctx, input),
    removes,
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
  "clients.add": changes(
    "/clients",
    { entry: "body" },
    async (ctx, input) => (await clientsEdit()).addClient(ctx, input),
    creates,
  ),
  "clients.edit": changes(
    "/clients/:client_id",
    { client_id: "string", entry: "body" },
    async (ctx, input) => (await clientsEdit()).editClient(ctx, input),
    edits,
  ),
  "clients.remove": changes(
    "/clients/:client_id",
    { client_id: "string" },
    async (ctx, input) => (await clientsEdit()).removeClient(ctx, input),
    removes,
  ),
  "clients.rotate-secret": changes(
    "/clients/:client_id/rotate-secret",
    { client_id: "string", client_secret: "string?" },
    async (ctx, input) => (await clientsEdit()).rotateSecret(ctx, input),
  ),
  "grants.list": reads("/grants", { user: "string?", client: "string?" }, async (ctx, input) =>
    (await grants()).listGrants(ctx, input),
  ),
  "grants.add": changes("/grants", consent, async (ctx, input) => (await issue()).issueGrant(ctx, input), creates),
  "grants.show": reads("/grants/:id", { id: "string" }, async (ctx, input) => (await grants()).showGrant(ctx, input)),
  "grants.edit": changes(
    "/grants/:id",
    { id: "string", scope: "string" },
    async (ctx, input) => (await grants()).editGrant(ctx, input),
    edits,
  ),
  "grants.revoke": changes(
    "/grants/:id",
    { id: "string" },
    async (ctx, input) => (await grants()).revokeOneGrant(ctx, input),
    removes,
  ),
  "sessions.list": reads("/sessions", { user: "string?" }, async (ctx, input) =>
    (await sessions()).listSessions(ctx, input),
  ),
  "sessions.end": changes("/sessions/end", { user: "string?", id: "string?" }, async (ctx, input) =>
    (await sessions()).endSelected(ctx, input),
  ),
  "sessions.show": reads("/sessions/:id", { id: "string" }, async (ctx, input) =>
    (await sessions()).showSession(ctx, input),
  ),
  "sessions.remove": changes(
    "/sessions/:id",
    { id: "string" },
    async (ctx, input) => (await sessions()).endSession(ctx, input),
    removes,
  ),
  "scopes.list": reads("/scopes", {}, async (ctx) => (await import("../core/scopes.ts")).listScopes(ctx)),
  "keys.list": { ...reads("/keys", {}, async (ctx) => (await keys()).listKeys(ctx)), changes: true },
  "keys.show": reads("/keys/:id", { id: "string" }, async (ctx, input) => (await keys()).showKey(ctx, input)),
  "keys.rotate": changes("/keys", { alg: "string?" }, async (ctx, input) => (await keys()).rotateKeys(ctx, input), {
    status: 201,
  }),
  "keys.remove": changes(
    "/keys/:id",
    { id: "string" },
    async (ctx, input) => (await keys()).removeKey(ctx, input),
    removes,
  ),
  "issue.grant": changes("/issue/grant", consent, async (ctx, input) => (await issue()).issueGrant(ctx, input), {
    status: 201,
  }),
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
  "token.issue": changes(
    "/token/issue",
    {
      ...{ user: "string?", client: "string", scope: "string?", type: "string?" },
      ...{ audience: "string?", expires_in: "number?", claims: "any?" },
      ...{ expired: "boolean?", not_yet_valid: "boolean?", wrong_issuer: "boolean?", wrong_audience: "boolean?" },
      ...{ bad_signature: "boolean?", unknown_kid: "boolean?", alg_none: "boolean?" },
    },
    async (ctx, input) => (await import("../core/issue-token.ts")).issueToken(ctx, input),
    { status: 201 },
  ),
  "token.verify": changes(
    "/token/verify",
    { token: "string", audience: "string?", leeway: "number?" },
    async (ctx, input) => (await import("../core/verify.ts")).verifyToken(ctx, input),
    { changes: false },
  ),
  "token.introspect": changes(
    "/token/introspect",
    { token: "string" },
    async (ctx, input) => (await import("../core/introspect.ts")).introspectToken(ctx, input),
    { changes: false },
  ),
  "token.revoke": changes("/token/revoke", { token: "string" }, async (ctx, input) =>
    (await import("../core/revoke.ts")).revokeToken(ctx, input),
  ),
  seed: changes(
    "/seed",
    {
      sources: "array?",
      ...{ users: "any?", clients: "any?", scopes: "any?", grants: "any?", settings: "any?", $schema: "any?" },
    },
    async (ctx, { sources, ...fixtures }, { progress }) => {
      const [{ seed }, { tellAll }] = await Promise.all([
        import("../core/seed.ts"),
        import("../core/backchannel-logout.ts"),
      ]);
      const isGiven = Object.values(fixtures).some((value) => value !== undefined);
      const meant = meantBy(sources, isGiven ? fixtures : undefined) ?? [{ value: {} }];
      try {
        return await seed(ctx, meant, { mode: "now", progress, onEnded: (ended) => tellAll(ctx, ended) });
      } finally {
        // Whatever became of the passwords.
        await ctx.reloadSettings();
      }
    },
    { bodyLimit: fixtureBody, createsData: true },
  ),
  reset: changes(
    "/reset",
    { sources: "array?", fixtures: "any?", keys: "boolean?" },
    async (ctx, { sources, fixtures, keys }, { progress }) => {
      const { reset } = await import("../core/reset.ts");
      return reset(ctx, { sources: meantBy(sources, fixtures), keys, progress });
    },
    { bodyLimit: fixtureBody },
  ),
  export: {
    ...reads("/export", { as: "string?" }, async (ctx, input) =>
      (await import("../core/export.ts")).exportState(ctx, input),
    ),
    changes: true,
  },
  import: changes(
    "/import",
    { document: "body" },
    async (ctx, { document }) => {
      const { importState } = await import("../core/import.ts");
      const { source } = document;
      const [read] = source === undefined ? [{ value: document }] : texts([source]);
      return importState(ctx, read ?? { value: document });
    },
    { bodyLimit: fixtureBody, createsData: true },
  ),
  status: reads("/status", {}, async (ctx, _input, { server }) => ({
    ...(await (await import("../core/status.ts")).status(ctx)),
    server,
  })),
  /** The route ends the server once the answer is out. */
  stop: changes("/stop", {}, async (_ctx, _input, { server }) => ({ stopping: true, pid: server?.pid }), {
    changes: false,
    needsServer: true,
  }),
};

export type OperationName = keyof typeof operations;
export type OperationInput<N extends OperationName> = Parameters<(typeof operations)[N]["run"]>[1];
export type OperationOutput<N extends OperationName> = Awaited<ReturnType<(typeof operations)[N]["run"]>>;

/** Runs an operation by its name. @throws {OperationError | OAuthError} usage, where the input is none of it; what the operation refuses */
export async function runOperation<N extends OperationName>(
  ctx: Context,
  name: N,
  input: OperationInput<N>,
  runner: Runner,
): Promise<OperationOutput<N>> {
  const known: Readonly<Record<string, unknown>> = operations;
  if (!Object.hasOwn(known, name)) {
    const { didYouMean } = await import("../core/nearest.ts");
    const hint = didYouMean(name, Object.keys(known), `One of: ${Object.keys(known).join(", ")}`);
    throw new OperationError("usage", `there is no operation "${name}"`, { hint });
  }
  const operation = known[name] as Operation<Fields, OperationOutput<N>>;
  return operation.run(
    ctx,
    await checkInput(operation.fields, new Map(Object.entries(Object(input) as object))),
    runner,
  );
}
