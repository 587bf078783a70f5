/*
 * core/records/operators: who may do what at a running server. roles.ts says what a role may do, and `requireRole` in
 * core/admin/operations/table.ts asks it before each operation. control-tokens.ts reads the list of tokens that a team
 * shares, acts.ts keeps who changed what.
 */
import { OperationError } from "../../base/errors.ts";

/** Each may do what those before it may. */
export const roles = ["reader", "tester", "admin"] as const;
export type Role = (typeof roles)[number];

/** Whoever sends a request to the control API, or a form of the inspector. */
export interface Operator {
  /** The name of the control token; `admin` for the admin token. */
  readonly name: string;
  readonly role: Role;
}

/** A token of the control API for one person or one pipeline of a team. */
export interface ControlToken extends Operator {
  readonly token: string;
}

export const admin: Operator = { name: "admin", role: "admin" };

/** Whose an issuer is. */
interface OwnedIssuer {
  readonly addedBy: string | null;
}

/** What an operation needs of the person who asks for it. */
interface Needs {
  readonly role: Role;
  /** It concerns the process, and not only this issuer. */
  readonly ofProcess: boolean;
}

const mayAs = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Whether somebody added this issuer as a tester, and so may do everything in it that concerns nobody else. */
const owns = ({ addedBy }: OwnedIssuer, { name, role }: Operator): boolean => role === "tester" && addedBy === name;

export function may(ctx: OwnedIssuer, operator: Operator, { role, ofProcess }: Needs): boolean {
  return mayAs(operator.role, role) || (!ofProcess && owns(ctx, operator));
}

/** Who somebody is in this issuer. `owner`: a tester who added it. */
export const operatorIn = (ctx: OwnedIssuer, by: Operator): Operator & { readonly owner?: true } => ({
  ...{ name: by.name, role: by.role },
  ...(owns(ctx, by) && { owner: true as const }),
});

const article = (role: Role): string => `${role === "admin" ? "an" : "a"} ${role}`;

/** @param what somebody wants, as its command is written: "users remove" */
export function forbidden({ name, role }: Operator, what: string, needed: Role): OperationError {
  return new OperationError("forbidden", `'${name}' is ${article(role)}: ${what} needs ${article(needed)}`, {
    hint: `Ask ${article(needed)} of this server, or use ${needed === "admin" ? "the admin token" : "the token of a tester"}`,
  });
}
