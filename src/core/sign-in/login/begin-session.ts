import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { restoreUser } from "../../records/fix-commands.ts";
import { waitingFor } from "../interactions.ts";
import { recordProof } from "../next-step.ts";
import { startSession } from "../sessions/sessions.ts";
import { requireUser } from "../../records/users/users.ts";

/** Signs a user in for an operator whose program shows the login page, where nobody can be picked. It proves what picking the user does. */

interface BeginInput {
  /** Username. */
  readonly user: string;
  /** The sign-in, as the address of its pages names it. */
  readonly sign_in: string;
  /** The value in the form of its login page, which only the browser that began it has. */
  readonly csrf: string;
}

export interface BegunSession {
  readonly user: string;
  /** The value of the session cookie. */
  readonly cookie: string;
  /** ISO 8601. */
  readonly expiresAt: string;
}

/** @throws {OperationError} not_found for an unknown user or sign-in; refused for a user who is not active */
export const beginSession = (ctx: Context, { user: username, sign_in, csrf }: BeginInput): Promise<BegunSession> =>
  ctx.store.transaction((tx) => {
    const user = requireUser(tx, username);
    if (user.status !== "active") {
      throw new OperationError("refused", `${user.username} is ${user.status}`, { hint: restoreUser(user) });
    }
    const interaction = waitingFor(tx, ctx, sign_in, csrf);
    if (interaction === null) {
      throw new OperationError("not_found", "no sign-in with this id and this csrf value waits", {
        hint: "Both are on the login page of the browser that began it.",
      });
    }
    const { cookie, session } = startSession(tx, ctx, user, ["user"], { session: null });
    recordProof(tx, interaction, user, ["user"]);
    return { user: user.username, cookie, expiresAt: new Date(session.expiresAt).toISOString() };
  });
