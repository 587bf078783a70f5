import type { OperationName } from "../../../core/admin/operations/routes.ts";
import type { OperationInput, OperationOutput } from "../../../core/admin/operations/table.ts";
import type { Role } from "../../../core/records/operators/roles.ts";
import type { CommandLine } from "../../../core/base/hint.ts";
import type { JsonObject } from "../../../text/json.ts";
import type { Invocation } from "../../invocation.ts";
import type { Answer } from "./answer.ts";

/** What a tool is. tools.ts lists them. */

/** Asks what the session works on: the running server, else the folder. */
export type Call = <N extends OperationName>(name: N, input: OperationInput<N>) => Promise<OperationOutput<N>>;

/** What the tools of one client share. */
export interface Session {
  /** How commands find the server now. */
  readonly cli: () => Invocation;
  /** Whoever started the server of the tools said so. */
  readonly allowRemote: boolean;
  readonly call: Call;
  /** Writes a command as the reader's shell takes it. */
  readonly line: CommandLine;
  /** Starts a server in memory, or answers with the one that runs. @returns the address, and whether it was started now */
  readonly start: (port: number | undefined) => Promise<{ readonly issuer: string; readonly isNew: boolean }>;
  /** A folder that only this user can open, and that is removed at the end. */
  readonly folder: () => string;
}

export interface Tool {
  readonly name: string;
  /** A sentence, and the command that does the same. */
  readonly description: string;
  /** Who may use any of it. */
  readonly role: Role;
  readonly hints: { readonly reads?: true; readonly destroys?: true; readonly opens?: true };
  /** JSON Schema of an object: what somebody of this role may ask for. */
  readonly schema: (role: Role) => Promise<JsonObject>;
  readonly run: (session: Session, input: JsonObject, signal: AbortSignal) => Promise<Answer>;
}
