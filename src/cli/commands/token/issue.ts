/*
 * cli/commands/token: the `token` commands, one file each.
 */
import { userOr, clientOr } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { targetUnder, type IssueFlags } from "../issue.ts";
import { OperationError } from "../../../core/errors.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { claimNotes, scopeNotes } from "../../output/scope-notes.ts";
import type { SetFields } from "../../flags/set-field.ts";
import type { Target } from "../../target/target.ts";
import { flawsOf, type FlawFlags } from "./flaws.ts";

export interface TokenIssueFlags extends IssueFlags, FlawFlags {
  readonly asIssuer?: string;
  readonly type: "access" | "id" | "refresh";
  readonly claim?: SetFields;
  readonly expiresIn?: number;
  readonly audience?: string;
  readonly dpopJkt?: string;
  readonly workload?: string;
}

/** `idp token issue`: prints one bare token and nothing else, for `$(…)`. */
export async function tokenIssue(cli: Invocation, flags: TokenIssueFlags): Promise<Outcome> {
  const target = await targetUnder(cli, flags.asIssuer);
  if (flags.workload !== undefined) return ofWorkload(target, flags.workload, flags);
  const client = await clientOr(cli, target, flags.client);
  const { scope, type, audience, claim: claims, expiresIn: expires_in } = flags;
  const issued = await target.call("token.issue", {
    ...{ client, scope, type, audience, claims, expires_in },
    user: await userFor(cli, target, client, flags),
    dpop_jkt: flags.dpopJkt,
    ...flawsOf(flags),
  });
  const warnings = issued.warnings.map((warning) => `Warning: ${warning}.`);
  return answer(issued, ({ token }) => token, {
    notes: [...warnings, ...claimNotes(claims), ...(await scopeNotes(target, scope)), target.where],
  });
}

async function ofWorkload(target: Target, name: string, flags: TokenIssueFlags): Promise<Outcome> {
  const { user, client, scope, dpopJkt, audience, claim: claims, expiresIn: expires_in } = flags;
  if ([user, client, scope, dpopJkt].some((given) => given !== undefined)) {
    throw new OperationError("usage", "--workload excludes --user, --client, --scope and --dpop-jkt", {
      hint: {
        text: "For example",
        command: ["idp", "token", "issue", "--workload", name, "--audience", "https://api.test"],
      },
    });
  }
  const issued = await target.call("workloads.issue", { name, audience, claims, expires_in, ...flawsOf(flags) });
  const warnings = issued.warnings.map((warning) => `Warning: ${warning}.`);
  return answer(issued, ({ token }) => token, { notes: [...warnings, target.where] });
}

/** The user, whom a client with client credentials does not need. */
async function userFor(
  cli: Invocation,
  target: Target,
  client: string,
  flags: IssueFlags,
): Promise<string | undefined> {
  if (flags.user !== undefined) return flags.user;
  const { grant_types: grantTypes } = await target.call("clients.show", { client_id: client });
  const speaksForItself = Array.isArray(grantTypes) && grantTypes.includes("client_credentials");
  return speaksForItself ? undefined : userOr(cli, target, undefined);
}
