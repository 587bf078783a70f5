import type { Check } from "../../../../jwt/checks.ts";
import { decodeToken, type DecodedToken } from "./decode.ts";
import { OperationError } from "../../../base/errors.ts";
import { hintText } from "../../../base/hint.ts";

/** The report on a token that somebody pasted. */

export interface Verification {
  readonly valid: boolean;
  readonly checks: readonly Check[];
  /** What was not checked, and how to check it. */
  readonly notes: readonly string[];
}

/** A wrong audience comes first, where the signature holds: the token is good, but for somebody else. */
export const verification = (checks: readonly Check[], notes: readonly string[]): Verification => {
  const isGenuine = checks.some(({ name, ok }) => name === "signature" && ok);
  const isForOthers = ({ name, ok }: Check): boolean => isGenuine && name === "aud" && !ok;
  return {
    valid: checks.every(({ ok }) => ok),
    checks: [...checks.filter(isForOthers), ...checks.filter((one) => !isForOthers(one))],
    notes,
  };
};

/**
 * Decodes a token for the checks that follow. If the text is not a JWT, the result is that one failed check.
 * @param now milliseconds since 1970
 */
export function decodeOrFail(token: string, now: number): DecodedToken | Verification {
  try {
    return decodeToken(token, now);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    const { message, hint } = error;
    return verification(
      [{ name: "form", ok: false, detail: hint === null ? message : `${message}. ${hintText(hint)}` }],
      [],
    );
  }
}
