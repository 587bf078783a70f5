import { OperationError } from "../../../core/errors.ts";
import { failureOf } from "../../failure.ts";
import { userOr } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { findTarget } from "../../target/target.ts";

/** `idp users otp` prints the one-time code that can be typed now; exit 6 if none is left. */
export async function showCode(cli: Invocation, username: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const user = await userOr(cli, target, username, ["idp", "users", "otp", "USERNAME"]);
  const shown = await target.call("users.otp", { username: user });
  const { code, expiresIn, availableIn } = shown;
  const failure =
    code === null
      ? failureOf(
          new OperationError("refused", `no one-time code of ${user} is left; the next one comes in ${availableIn} s`),
        )
      : null;
  return answer(shown, () => code ?? "", {
    notes: expiresIn === null ? [] : [`It is accepted once, for ${expiresIn} s.`],
    failure,
  });
}
