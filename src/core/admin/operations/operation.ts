import * as z from "zod";
import type { output, ZodType } from "zod";
import type { Context } from "../../context.ts";
import type { DeepReadonly } from "../../records/fields.ts";
import type { CommandLine } from "../../base/hint.ts";
import type { Opener } from "../../records/inspector/access.ts";

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

/** What an operation with this schema takes. */
export type Input<S extends ZodType> = DeepReadonly<output<S>>;

/** What an operation with this schema returns. */
export type Output<A extends ZodType> = DeepReadonly<output<A>>;

/** What the file of its noun says of an operation. */
export interface Operation<S extends ZodType = ZodType, A extends ZodType = ZodType> {
  /** For the OpenAPI document: the rules that compare the input with records or settings. */
  readonly note?: string;
  /** The body of the API call, its path parameters and its query, in one object. */
  readonly input: S;
  /** What it returns. */
  readonly answer: A;
  /** The refusals beside those that every operation has: a name that is unknown, a state that does not allow it, fixtures with a problem. */
  readonly refuses?: readonly (404 | 409 | 422)[];
  /** @param input checked @throws {OperationError | OAuthError} what the operation refuses */
  run(ctx: Context, input: Input<S>, runner: Runner): Promise<Output<A>>;
}

/** The compiler compares what `run` returns with `answer`, either way: neither has a member that the other lacks. */
export const declare = <S extends ZodType, A extends ZodType, O extends Output<A>>(
  operation: Operation<S, A> & {
    readonly answer: ZodType<NoInfer<O>>;
    run(ctx: Context, input: Input<S>, runner: Runner): Promise<O>;
  },
): Operation<S, A> => operation;

/** The input of an operation that takes none. */
export const nothing = z.strictObject({});

/** The answer of an operation that returns none. */
export const none = z.null();

/** Whose, for whom, and for what; the address of REST and that of `issue` mean the same. */
export const consent = z.strictObject({ user: z.string(), client: z.string(), scope: z.string().optional() });
