import { OperationError, RemoteError } from "../../core/base/errors.ts";
import type { Hint } from "../../core/base/hint.ts";
import { unknownHere } from "../../core/base/nearest.ts";
import type { OperationOutput } from "../../core/admin/operations/table.ts";
import { standardByScope } from "../../core/records/scopes/claim-table.ts";
import { randomWord } from "../../serve/random.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { Opened } from "./opened.ts";

/** Who signs in: the user, another one, and users that a check adds for itself. */

export type User = OperationOutput<"users.show">;

/** How a check gets a user: that of its own server must be in the fixtures. */
export const anotherUser: Hint = {
  text: "List one in the fixtures. To add one to the running server",
  command: ["idp", "users", "add", "erin"],
};

/** @param wanted absent: the first active user @throws {OperationError} not_found */
export async function userOf(server: Server, wanted: string | undefined): Promise<string> {
  const list = () => callServer(server, "users.list", {});
  if (wanted !== undefined) {
    try {
      return (await callServer(server, "users.show", { username: wanted })).username;
    } catch (error) {
      if (!(error instanceof RemoteError && error.code === "not_found")) throw error;
      const known = (await list()).map(({ username }) => username);
      throw unknownHere(new OperationError("not_found", error.message), wanted, { title: "Users", known });
    }
  }
  const active = (await list()).find(({ status }) => status === "active");
  if (active !== undefined) return active.username;
  throw new OperationError("not_found", "there is no active user who could sign in", { hint: anotherUser });
}

/** An active user who is not this one; null: there is none. @returns the username */
export async function otherThan(server: Server, user: string): Promise<string | null> {
  const all = await callServer(server, "users.list", {});
  return all.find(({ username, status }) => status === "active" && username !== user)?.username ?? null;
}

/** The user of `--attacker`; null: none was named. @throws {OperationError} not_found, usage */
export async function attackerNamed(server: Server, user: string, attacker: string | undefined): Promise<User | null> {
  if (attacker === undefined) return null;
  if (attacker !== user) return callServer(server, "users.show", { username: attacker });
  throw new OperationError("usage", `--attacker ${attacker} is the user who signs in`, {
    hint: "Name another one; it may be any user whom the app admits",
  });
}

const standardNames = new Set([...standardByScope.values()].flat());

/** What an app may admit people by, such as groups; not who they are. */
export const ownClaims = (claims: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !standardNames.has(name)));

/** Whom an app admits: maybe by claims such as groups, or by the domain of an address that is verified. */
export type Admitted = Pick<User, "claims" | "email" | "emailVerified">;

/** Adds a user whom nobody knows, until the check ends, and whom an app admits that admits this one. @returns the username */
export function addOwnUser(server: Server, like: Admitted, opened: Opened): Promise<string> {
  const word = randomWord();
  const username = `idp-check-${word}`;
  const domain = like.email?.split("@").at(-1) ?? "example.com";
  const user = {
    ...{ username, email: `${username}@${domain}`, emailVerified: like.emailVerified, displayName: `Check ${word}` },
    claims: ownClaims(like.claims),
  };
  return opened.adds(
    async () => (await callServer(server, "users.add", user)).username,
    () => callServer(server, "users.remove", { username }),
  );
}
