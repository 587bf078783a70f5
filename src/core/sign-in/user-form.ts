import type { Interaction, User } from "../../store/store.ts";
import type { Guidance } from "../base/errors.ts";
import { hashOf, sameSecret } from "../base/secrets.ts";
import type { LiveSession } from "./sessions/sessions.ts";
import { InteractionError, type Browser } from "./interactions.ts";

/**
 * Forms that are shown to one user: another user who signs in in another tab must not decide for them. The `csrf` value has a part for
 * the page and a part for the user, so that the error can tell a form shown to another user from a forged one.
 */

export const userFormValue = (page: string, reader: string): string => `${page}.${hashOf(`${page} ${reader}`)}`;

/** A form of a page within a sign-in or a sign-out. The name of the page keeps its value from another page's form. */
export const pageFormValue = ({ csrf }: Interaction, page: "factor" | "logout", { id }: User): string =>
  userFormValue(csrf, `${page} ${id}`);

/** A form of the account pages is bound to the browser and the session, so it needs no record. */
export const csrfOf = (browser: Browser, { session }: Pick<LiveSession, "session">): string =>
  userFormValue(hashOf(`account ${browser.id ?? ""}`), session.id);

/** The form was shown to another user than the one who is signed in now. */
export class OtherUserError extends Error {
  override readonly name = "OtherUserError";
  /** Who is signed in now. */
  readonly username: string;
  readonly guidance: Guidance = {
    rule: "RFC 6749 10.12",
    fix: "reload the page, and decide as the user who is signed in",
  };
  constructor(username: string) {
    super(`${username} signed in in another tab. Reload this page`);
    this.username = username;
  }
}

/** @throws {InteractionError | OtherUserError} unless the form was shown to the user who is signed in now */
export function requireUserForm(given: string, expected: string, username: string): void {
  if (sameSecret(given, expected)) return;
  const [page = ""] = expected.split(".");
  const [givenPage = ""] = given.split(".");
  throw sameSecret(givenPage, page) ? new OtherUserError(username) : new InteractionError("csrf");
}

/** @param user who is signed in now; undefined: nobody, so that the form decides for nobody else. @throws {InteractionError | OtherUserError} */
export function requirePageForm(
  interaction: Interaction,
  page: "factor" | "logout",
  given: string,
  user: User | undefined,
): void {
  if (user !== undefined) requireUserForm(given, pageFormValue(interaction, page, user), user.username);
}
