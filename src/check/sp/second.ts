import type { AuthorizationResponse } from "../../client/app/visit.ts";
import { emailOf, namedClaims } from "../../core/records/scopes/claims.ts";
import type { ServiceProvider } from "../../core/records/service-providers/provider.ts";
import { escapeXml } from "../../core/base/xml/write.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { User } from "../../store/store.ts";
import type { SecondPlace } from "../frame/account/second.ts";
import type { Opened } from "../frame/opened.ts";
import { addOwnUser } from "../frame/people.ts";
import { spControlOf } from "./control.ts";
import type { Person, Way } from "./messages.ts";

/** The app's connection to another tenant, whose identity provider names whom it likes. */

const nameForm = /(<saml:NameID[^>]*>)([^<]*)(?=<)/;
const isTransient = (element: string): boolean => element.includes(":transient");

/** What a response may say of a user, the longest first: a username may be part of an e-mail. */
function valuesOf(user: User): readonly (readonly [claim: string, value: string])[] {
  const named = namedClaims(user, ["name", "given_name", "family_name"]);
  return Object.entries({ email: emailOf(user), username: user.username, id: user.id, ...named }).filter(
    (one): one is [string, string] => typeof one[1] === "string",
  );
}

/** @param from the user of this response @param to whom it names instead */
function renamed(text: string, from: User, to: User, like: string): string {
  const others = new Map(valuesOf(to));
  const pairs = valuesOf(from).map(([claim, value]) => [value, others.get(claim) ?? value] as const);
  let next = text;
  for (const [value, other] of pairs) next = next.replaceAll(`>${escapeXml(value)}<`, () => `>${escapeXml(other)}<`);
  // A name with its scope, as Shibboleth sends it.
  next = next.replaceAll(`>${escapeXml(from.username)}@`, () => `>${escapeXml(to.username)}@`);
  const [, element = "", name = ""] = nameForm.exec(next) ?? [];
  const [, likeElement = "", likeName = ""] = nameForm.exec(like) ?? [];
  const isDerived = !isTransient(element) && !isTransient(likeElement) && !pairs.some(([, other]) => other === name);
  return isDerived ? next.replace(nameForm, (_all, tag: string) => tag + likeName) : next;
}

const textOf = ({ parameters }: AuthorizationResponse): string =>
  Buffer.from(parameters.get("SAMLResponse") ?? "", "base64").toString();

/** Another connection of the app, to the identity provider of another tenant. */
export type Second = Awaited<ReturnType<typeof secondSp>>;

/** @param place of the first connection, whose user is named */
export async function secondSp(
  start: string,
  second: SecondPlace,
  provider: ServiceProvider,
  place: { readonly server: Server; readonly people: { readonly user: Person; readonly attacker: Person } },
  opened: Opened,
) {
  const { server, issuer, client, isOurs } = second;
  const { people } = place;
  const control = spControlOf(server, { issuer, isOwn: isOurs, ...people }, client, provider, opened);
  const show = async (at: Server, username: string): Promise<User> =>
    (await callServer(at, "users.show", { username })) as unknown as User;
  const user = await show(place.server, people.user.username);
  return {
    ...{ start, issuer, server },
    acs: () => control.acs(),
    /** Adds somebody there whom nobody knows. @returns the username */
    addUser: (): Promise<string> => addOwnUser(server, user, opened),
    /** Makes responses there like those of the first connection, where nobody else uses it. */
    async setWay(way: Way): Promise<void> {
      if (isOurs) await control.setWay(way);
    },
    /**
     * A response to that user, who is the user of the first connection in it, and signed again.
     * @param like a response that names the user @throws {Problem} it is encrypted, or cannot be signed here
     */
    async naming(
      response: AuthorizationResponse,
      username: string,
      like: AuthorizationResponse,
    ): Promise<AuthorizationResponse> {
      const from = await show(server, username);
      return control.signAgain(response, (text) => renamed(text, from, user, textOf(like)));
    },
  };
}
