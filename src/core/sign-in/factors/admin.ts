import type { Met } from "../../records/step-up/proofs.ts";
import type { Client, User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { requireUser } from "../../records/users/users.ts";
import {
  amrOf,
  canMeet,
  factorsOf,
  factorsOfAcr,
  isReachableAcr,
  reachableAcr,
  type AuthenticationInfo,
} from "../../records/step-up/acr.ts";
import { currentCode, keyUri } from "../../records/step-up/otp.ts";
import { seconds } from "../../../text/time.ts";

/** Factors at the operator's command: the code of a user, and tokens as if a factor had been given. */

interface ShownCode {
  /** Null: none is left that lasts for at least 15 s. */
  readonly code: string | null;
  /** Seconds until it is no longer accepted. */
  readonly expiresIn: number | null;
  /** Seconds until there is a code; 0: there is one. */
  readonly availableIn: number;
  /** What an authenticator app reads: an address with the secret. */
  readonly uri: string;
}

/**
 * The oldest unused one-time code of a user that is taken for at least 15 s more.
 * @throws {OperationError} not_found; refused for a user without one-time codes
 */
export const showCode = (ctx: Context, input: { readonly username: string }): Promise<ShownCode> =>
  ctx.store.read((tx) => {
    const user = requireUser(tx, input.username);
    if (!factorsOf(user).includes("otp")) {
      throw new OperationError("refused", `user "${user.username}" has no one-time codes`, {
        hint: { text: "To give them", command: ["idp", "users", "edit", user.username, "--set", 'factors=["otp"]'] },
      });
    }
    const current = currentCode(tx, ctx, user);
    const uri = keyUri(ctx, user);
    return current.code === null
      ? { code: null, expiresIn: null, availableIn: current.wait, uri }
      : { code: current.code, expiresIn: current.expiresIn, availableIn: 0, uri };
  });

/**
 * What a sign-in would amount to in which the user gave what a value of `acr` needs.
 * @throws {OperationError} usage for an unknown value; refused if the user cannot meet it
 */
export function authenticationInfoFor(ctx: Context, user: User, acr: string): AuthenticationInfo {
  const factors = factorsOfAcr(ctx, acr);
  if (factors === undefined) {
    throw new OperationError("usage", `no acr "${acr}" is defined`, {
      hint: `Defined: ${reachableAcr(ctx).join(", ")}. The setting acr defines more`,
    });
  }
  const lacking = factors.filter((factor) => !canMeet(ctx, user, factor));
  if (lacking.length > 0) {
    throw new OperationError(
      "refused",
      `${user.username} cannot meet acr "${acr}": ${lacking.join(" and ")} ${lacking.length === 1 ? "is" : "are"} missing`,
      {
        hint: { text: "To see what the user has", command: ["idp", "users", "show", user.username] },
      },
    );
  }
  const now = seconds(ctx);
  // The button that stands in for a passkey proves nothing.
  const proofs = factors.map((factor) =>
    factor === "passkey" && (user.passkeys ?? []).length === 0 ? "button" : factor,
  );
  // Who gives no password was chosen in the picker.
  const met: Met = Object.fromEntries(
    [...(proofs.includes("pwd") ? [] : ["user"]), ...proofs].map((proof) => [proof, now]),
  );
  return { acr, authTime: now, amr: amrOf(met) };
}

/**
 * The same for the first of the values that the client asks for by default (OpenID Connect Registration 2).
 * @returns null if it asks for none that is defined
 * @throws {OperationError} refused if the user can meet none
 */
export function defaultAuthenticationInfo(ctx: Context, user: User, client: Client): AuthenticationInfo | null {
  const known = (client.default_acr_values ?? []).filter((value) => isReachableAcr(ctx, value));
  const isMet = (value: string): boolean => (factorsOfAcr(ctx, value) ?? []).every((one) => canMeet(ctx, user, one));
  const value = known.find(isMet) ?? known[0];
  return value === undefined ? null : authenticationInfoFor(ctx, user, value);
}
