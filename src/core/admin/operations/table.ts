/*
 * core/admin/operations: every operation of the control API, once, for the API, the command line and the library.
 *
 * routes.ts lists them: where each is, and who may do it (route.ts). What it takes, gives and does is in the file of its noun (operation.ts).
 * table.ts runs them by name. command-of.ts says which of them the inspector shows between the requests. In schemas/, input.ts checks what is
 * given; given.ts, times.ts and shown.ts have the schemas of what operations take and return.
 */
import type { Context } from "../../context.ts";
import type { Opener } from "../../records/inspector/access.ts";
import { reachOfRegistered } from "../../base/outbound.ts";
import { recordAct } from "../../records/operators/acts.ts";
import { forbidden, may, type Operator } from "../../records/operators/roles.ts";
import { commandOf, isKnownIn, tellLedger } from "./command-of.ts";
import { OperationError } from "../../base/errors.ts";
import { quotedLine } from "../../base/hint.ts";
import { isChange } from "./route.ts";
import { operations, type OperationName } from "./routes.ts";
import type { Operation, Output, Runner } from "./operation.ts";

/** Runs operations by their names: for the control API (`http/api/api.ts`), for commands on a data folder, and for the library. */

type Declared<N extends OperationName> = Awaited<ReturnType<(typeof operations)[N]["load"]>>;
export type OperationInput<N extends OperationName> = Parameters<Declared<N>["run"]>[1];
export type OperationOutput<N extends OperationName> = Output<Declared<N>["answer"]>;

/** Checks the input, whoever calls. @throws {OperationError | OAuthError} usage for a wrong input; what the operation refuses */
export async function run<N extends OperationName>(
  ctx: Context,
  name: N,
  input: OperationInput<N>,
  runner: Runner,
): Promise<OperationOutput<N>> {
  const operation = (await operations[name].load()) as unknown as Operation;
  const { checkInput } = await import("./schemas/input.ts");
  return operation.run(ctx, await checkInput(operation.input, input), runner) as Promise<OperationOutput<N>>;
}

/** The words that a person types: "users.remove" is `users remove`, and "diff.given" is `diff` with files. */
const wordsOf = (name: OperationName): string => name.replace(".given", "").replaceAll(".", " ");

/** @throws {OperationError} forbidden, if the operator's role may not do it in this issuer */
function requireRole(ctx: Context, name: OperationName, input: object, by: Operator): void {
  const operation = operations[name];
  const { ofProcess, showsSecrets } = operation;
  if (!may(ctx, by, { role: operation.role, ofProcess: ofProcess || showsSecrets }))
    throw forbidden(by, wordsOf(name), operation.role);
  if ("secrets" in input && input.secrets === true && by.role !== "admin")
    throw forbidden(by, `${wordsOf(name)} --show-secrets`, "admin");
}

/**
 * Runs an operation for somebody who asks a running server for it, as far as their role may.
 * @throws {OperationError | OAuthError} forbidden; what the operation refuses
 */
export async function perform<N extends OperationName>(
  ctx: Context,
  name: N,
  input: OperationInput<N>,
  runner: Runner & { readonly by: Opener },
): Promise<OperationOutput<N>> {
  requireRole(ctx, name, input, runner.by);
  const output = await run(asked(ctx, name, input, runner.by), name, input, runner);
  tellLedger(ctx, { name, operation: operations[name], input, by: runner.by });
  return output;
}

/** What a request to a running server changes is kept with who sent it: its command, without secrets. */
export const keepAct = async (
  ctx: Context,
  name: OperationName,
  input: object,
  { by, status }: { readonly by: Operator; readonly status: number },
): Promise<void> => {
  const operation = operations[name];
  if (!isChange(operation)) return;
  const asked = { name, operation, input };
  await recordAct(ctx, by, {
    status,
    commandOf: (tx) => quotedLine(commandOf(status < 400 ? asked : { ...asked, isKnown: isKnownIn(tx, ctx) })),
  });
};

/** Addresses that a tester writes are those of a stranger; those of the operator's fixtures are not written by the tester. */
function asked(ctx: Context, name: OperationName, input: object, { role }: Operator): Context {
  const usesFiles = name === "fixtures.apply" || (name === "reset" && !("sources" in input) && !("fixtures" in input));
  if (role === "admin" || usesFiles) return ctx;
  const settings = () => ({ ...ctx.settings, reach: reachOfRegistered(ctx.settings) });
  // All members of its own, since operations make contexts from this one by spreading it.
  const own = { ...Object.getOwnPropertyDescriptors(ctx), settings: { get: settings, enumerable: true } };
  return Object.defineProperties({}, own) as Context;
}

/** Runs an operation by its name. @throws {OperationError | OAuthError} usage for a wrong name or input; what the operation refuses */
export async function runOperation<N extends OperationName>(
  ctx: Context,
  name: N,
  input: OperationInput<N>,
  runner: Runner,
): Promise<OperationOutput<N>> {
  const known: Readonly<Record<string, unknown>> = operations;
  if (!Object.hasOwn(known, name)) {
    const { didYouMean } = await import("../../base/nearest.ts");
    const hint = didYouMean(name, Object.keys(known), `One of: ${Object.keys(known).join(", ")}`);
    throw new OperationError("usage", `there is no operation "${name}"`, { hint });
  }
  // Some operations read no records, only values derived from them.
  await ctx.store.catchUp?.();
  const output = await run(ctx, name, input, runner);
  tellLedger(ctx, { name, operation: operations[name], input });
  return output;
}
