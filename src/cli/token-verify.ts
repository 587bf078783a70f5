import { OperationError } from "../core/errors.ts";
import { failureOf } from "./failure.ts";
import type { Invocation } from "./invocation.ts";
import { answer, type Outcome } from "./print.ts";
import { findTarget } from "./target.ts";
import { pairs } from "./table.ts";
import { readToken } from "./token-input.ts";
import { count } from "./words.ts";

export interface VerifyFlags {
  readonly audience?: string;
  readonly issuer?: string;
}

/** `idp token verify`: every check, also those after one that failed. */
export async function tokenVerify(
  cli: Invocation,
  argument: string | undefined,
  { audience, issuer }: VerifyFlags,
): Promise<Outcome> {
  const { token } = await readToken(cli, argument);
  const target = await findTarget(cli, issuer);
  const result = await target.call("token.verify", { token, audience });
  const failed = result.checks.filter(({ ok }) => !ok).length;
  return answer(
    result,
    ({ checks }, style) =>
      pairs(
        checks.map(({ name, ok, detail }) => [name, `${ok ? style.green("✓") : style.red("✗")} ${detail}`] as const),
        style,
      ),
    {
      failure: result.valid
        ? null
        : failureOf(
            new OperationError("refused", `not valid: ${failed} of ${count(result.checks.length, "check")} failed`),
          ),
    },
  );
}
