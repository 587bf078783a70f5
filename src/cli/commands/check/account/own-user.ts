import { standardByScope } from "../../../../core/scopes/claim-table.ts";
import { randomWord } from "../../../../serve/random.ts";
import { callServer, type Server } from "../../../../serve/remote.ts";

/** Users that a check adds for itself. */

const standardNames = new Set([...standardByScope.values()].flat());

/** What an app may admit people by, such as groups; not who they are. */
export const ownClaims = (claims: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !standardNames.has(name)));

/** Adds a user whom nobody knows. @param claims of somebody whom the app admits @returns the username */
export async function addOwnUser(server: Server, claims: Readonly<Record<string, unknown>>): Promise<string> {
  const word = randomWord();
  const username = `idp-check-${word}`;
  await callServer(server, "users.add", {
    ...{ username, email: `${username}@example.com`, displayName: `Check ${word}` },
    claims: ownClaims(claims),
  });
  return username;
}
