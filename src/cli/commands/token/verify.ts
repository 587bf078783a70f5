import { OperationError } from "../../../core/errors.ts";
import type { Verification } from "../../../core/tokens/read/claim-checks.ts";
import { checkLines } from "../../output/check-lines.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { findTarget } from "../../target/target.ts";
import { readText, readToken } from "./input.ts";
import { keysOf, type KeyFlags } from "./verifying-keys.ts";
import { count } from "../../output/words.ts";

export interface VerifyFlags extends KeyFlags {
  readonly audience?: string;
  readonly leeway?: number;
}

/** `idp token verify`: runs every check, also after one that failed. */
export async function tokenVerify(cli: Invocation, argument: string | undefined, flags: VerifyFlags): Promise<Outcome> {
  if (flags.secretStdin === true && (argument === undefined || argument === "-")) {
    throw new OperationError("usage", "standard input holds the secret, so the token has to be the argument", {
      hint: {
        text: "Pipe in the secret, and give the token",
        command: ["idp", "token", "verify", "TOKEN", "--secret-stdin"],
      },
    });
  }
  const token = await givenToken(cli, argument);
  const result = await verify(cli, token, flags);
  const failed = result.checks.filter(({ ok }) => !ok).length;
  const message = `not valid: ${failed} of ${count(result.checks.length, "check")} failed`;
  return answer(result, ({ checks }, style) => checkLines(checks, style, cli.width), {
    notes: result.notes,
    failure: result.valid ? null : failureOf(new OperationError("refused", message)),
  });
}

/** A token, or a SAML message as it is. */
async function givenToken(cli: Invocation, argument: string | undefined): Promise<string> {
  const text = await readText(cli, "verify", argument);
  if (/^\ufeff?\s*<|SAML(?:Request|Response)=/.test(text)) return text.trim();
  return (await readToken(cli, "verify", text)).token;
}

async function verify(cli: Invocation, token: string, flags: VerifyFlags): Promise<Verification> {
  const { audience, leeway, issuer } = flags;
  const keys = await keysOf(cli, flags);
  if (keys === null) return (await findTarget(cli)).call("token.verify", { token, audience, leeway });
  const { verifyForeignToken } = await import("../../../core/tokens/read/verify-foreign.ts");
  return verifyForeignToken(token, keys, {
    issuer: issuer ?? null,
    audience: audience ?? null,
    leeway: leeway ?? 0,
    now: cli.now(),
  });
}
