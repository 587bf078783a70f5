import type { Invocation } from "./invocation.ts";
import { forWhom, type IssueFlags } from "./issue.ts";
import { answer, type Outcome } from "./print.ts";
import { findTarget } from "./target.ts";

export interface TokenIssueFlags extends IssueFlags {
  readonly issuer?: string;
  readonly type: "access" | "id" | "refresh";
}

/** `idp token issue`: one bare token and nothing else; under `--json` an object with the token alone. */
export async function tokenIssue(cli: Invocation, flags: TokenIssueFlags): Promise<Outcome> {
  const target = await findTarget(cli, flags.issuer);
  const response = await target.call("issue.tokens", await forWhom(cli, target, flags));
  const member = `${flags.type}_token` as const;
  return answer({ [member]: response[member] }, () => response[member], { notes: [target.where] });
}
