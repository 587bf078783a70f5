import { emailOf, namedClaims } from "../../core/records/scopes/claims.ts";
import type { NameIdKind } from "../../core/records/service-providers/names.ts";
import { nameValueOf, type ServiceProvider } from "../../core/records/service-providers/provider.ts";
import { randomText, randomWord } from "../../serve/random.ts";
import type { User } from "../../store/store.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { Opened } from "../frame/opened.ts";
import { attackerNamed, ownClaims, type User as Shown } from "../frame/people.ts";
import type { Person } from "./messages.ts";

/** The user of `idp check sp`, and the attacker. */

/** Characters: a shorter name may be on a page by chance. */
const minName = 3;

/** Who gives names to users, and for whom. */
interface Naming {
  readonly issuer: string;
  readonly provider: Pick<ServiceProvider, "entityId" | "nameid">;
}

function personOf(shown: Shown, { issuer, provider: { entityId, nameid } }: Naming): Person {
  const user = shown as unknown as User;
  const nameOf = (kind: NameIdKind): string | null =>
    kind === "transient" ? null : nameValueOf({ issuer, random: randomText }, { kind, entityId }, user);
  // A request of the app may ask for another NameID than the usual one (SAML Core 3.4.1.1).
  const names = [nameOf(nameid), nameOf("email"), nameOf("persistent"), namedClaims(user, ["name"])["name"]];
  return {
    username: shown.username,
    names: [...new Set(names.filter((name) => typeof name === "string" && name.length >= minName))] as string[],
  };
}

/**
 * The user, and an attacker whose e-mail address begins with that of the user: one that is added, and removed at the end, or one that is named.
 * @param named absent: one is added
 * @throws {OperationError} not_found, usage
 */
export async function spPeople(
  server: Server,
  { user: username, named, ...naming }: Naming & { readonly user: string; readonly named: string | undefined },
  opened: Opened,
): Promise<{ readonly user: Person; readonly attacker: Person }> {
  const user = await callServer(server, "users.show", { username });
  const found = await attackerNamed(server, username, named);
  const attacker = personOf(found ?? (await addAttacker(server, user, naming.provider.nameid, opened)), naming);
  return { user: personOf(user, naming), attacker: found === null ? { ...attacker, isNew: true } : attacker };
}

async function addAttacker(server: Server, user: Shown, nameid: NameIdKind, opened: Opened): Promise<Shown> {
  const random = randomWord();
  const email = emailOf(user as unknown as User);
  // Where the username is the NameID, it has to begin with that of the user, too.
  const behind = user.username.includes("@") ? `${random}.example.com` : random;
  const username = nameid === "username" ? `${user.username}.${behind}` : `check-sp-${random}`;
  return opened.adds(
    () =>
      callServer(server, "users.add", {
        username,
        ...(typeof email === "string" && { email: `${email}.${random}.example.com` }),
        displayName: `Check ${random}`,
        claims: ownClaims(user.claims),
      }),
    () => callServer(server, "users.remove", { username }),
  );
}
