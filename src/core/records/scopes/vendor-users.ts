import type { User } from "../../../store/store.ts";
import { baseOf } from "../../base/endpoints.ts";
import { hashOf } from "../../base/secrets.ts";
import { avatarOf } from "./avatar.ts";
import type { Context } from "../../context.ts";

/** A user as the apps of a vendor see them: claims of fixtures that stand for what the vendor knows, and the forms that only it has. */

type At = Pick<Context, "address" | "layout">;

/** Claims of fixtures that a vendor's tokens have in another form. */
const hidden = { apple: "private_email", cognito: "groups" } as const;

/** The user with the address of the picture, as the vendor of the issuer shows them. */
export function userAt(ctx: At, user: User): User {
  const shown = { ...user, avatar: avatarOf(user, baseOf(ctx.address)) };
  const name = ctx.layout.apple === true ? hidden.apple : ctx.layout.cognito === true ? hidden.cognito : null;
  if (name === null || user.claims[name] === undefined) return shown;
  const { [name]: value, ...claims } = user.claims;
  if (name === hidden.cognito) return { ...shown, claims };
  const email = value === true ? relayAddress(ctx, user) : typeof value === "string" ? value : null;
  if (email === null) return { ...shown, claims };
  const { email: _, ...others } = claims;
  return { ...shown, email, emailVerified: true, claims: others };
}

/** Whether the apps of this issuer get another e-mail address than the user's own. */
export const hasPrivateEmail = ({ claims }: Pick<User, "claims">): boolean =>
  claims[hidden.apple] === true || typeof claims[hidden.apple] === "string";

/** A number or a text that follows from another text. */
const digestOf = (text: string): string => Buffer.from(hashOf(text), "base64url").toString("hex");

/** The address at all clients of the issuer, the same on every run. An issuer is a team, and its path says which. */
const relayAddress = ({ address }: At, { id }: User): string =>
  `${digestOf(`${new URL(address).pathname} ${id}`).slice(0, 10)}@privaterelay.example.com`;

/** The member `user` of Apple's form: what the user allows, the first time. @param scopes those that are granted */
export function userForm(ctx: At, given: User, scopes: readonly string[]): { readonly user?: string } {
  const { email, displayName, claims } = userAt(ctx, given);
  const words = displayName.trim().split(/\s+/);
  const textOr = (value: unknown, other: string): string => (typeof value === "string" ? value : other);
  const name = {
    firstName: textOr(claims["given_name"], words.slice(0, -1).join(" ") || (words[0] ?? "")),
    lastName: textOr(claims["family_name"], words.at(-1) ?? ""),
  };
  const user = {
    ...(scopes.includes("name") && { name }),
    ...(scopes.includes("email") && email !== null && { email }),
  };
  return Object.keys(user).length === 0 ? {} : { user: JSON.stringify(user) };
}

/** A number below 2^31, as GitHub's ids are. */
const githubNumber = (text: string): number => Number.parseInt(digestOf(text).slice(0, 8), 16) & 0x7f_ff_ff_ff || 1;

const givenNumber = (value: unknown): number | undefined =>
  /^[1-9][0-9]{0,15}$/.test(String(value)) ? Number(value) : undefined;

/** What GitHub's API says of a user. @param user with the address of the picture @param email their own */
export function githubUser(
  { id, username, displayName, avatar, claims }: User,
  email: unknown,
): Record<string, unknown> {
  const number = givenNumber(claims["github_id"]) ?? githubNumber(id);
  return {
    login: username,
    id: number,
    node_id: Buffer.from(`04:User${number}`).toString("base64"),
    avatar_url: avatar.baseUrl === null || avatar.path === "" ? null : avatar.baseUrl + avatar.path,
    type: "User",
    name: displayName,
    email: isPublicEmail(claims) && typeof email === "string" ? email : null,
  };
}

export const isPublicEmail = (claims: User["claims"]): boolean => claims["github_public_email"] === true;

/** The organizations of a user. */
export function githubOrgs({ claims }: User): readonly { readonly login: string; readonly id: number }[] {
  const logins = Array.isArray(claims["github_orgs"]) ? claims["github_orgs"] : [];
  return logins.filter((login) => typeof login === "string").map((login) => ({ login, id: githubNumber(login) }));
}
