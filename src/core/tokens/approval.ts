import type { Grant, ReadTx, User } from "../../store/store.ts";
import { OAuthError } from "../errors.ts";
import { consentAgain, fixOf, userRefusal } from "./state.ts";

/** An approval that waits to be redeemed: who gave it, and under which grant. */
export interface Approval {
  readonly userId: string;
  readonly grantId: string;
  readonly epoch: string;
}

/**
 * The user and the grant behind a code, both active.
 * @param what the code, as the client knows it: "code", "device_code"
 * @throws {OAuthError} invalid_grant, with what happened to them
 */
export function requireApproval(tx: ReadTx, approval: Approval | null, what: string): { user: User; grant: Grant } {
  const user = approval === null ? undefined : tx.get("users", approval.userId);
  if (approval === null || user === undefined) {
    throw new OAuthError("invalid_grant", `the user of this ${what} no longer exists`, {
      rule: "RFC 6749 5.2",
      fix: "begin again, and sign in as another user",
    });
  }
  const grant = tx.get("grants", approval.grantId);
  const about = { user: user.username };
  const refusal = userRefusal(user);
  if (refusal !== null)
    throw new OAuthError("invalid_grant", refusal.message, {
      rule: "RFC 6749 5.2",
      ...fixOf({ ...refusal, about }),
    });
  if (grant === undefined || grant.status !== "active" || grant.epoch !== approval.epoch) {
    throw new OAuthError("invalid_grant", `Access revoked by user: the grant behind this ${what} was revoked`, {
      rule: "RFC 6749 5.2",
      fix: consentAgain,
      about,
    });
  }
  return { user, grant };
}
