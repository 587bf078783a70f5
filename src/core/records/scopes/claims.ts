import type { Client, ReadTx, User } from "../../../store/store.ts";
import { ownValue } from "../../../text/json.ts";
import type { Context, Settings } from "../../context.ts";
import { reservedClaims, standardByScope } from "./claim-table.ts";
import { githubUser, hasPrivateEmail, userAt } from "./vendor-users.ts";

/** Which claims a scope releases, in the three forms of `userinfo_format`. */

const standardNames = new Set([...standardByScope.values()].flat());

/** Claims that a request asks for by name, by where they go (OpenID Connect Core 5.5). */
export interface RequestedClaims {
  readonly userinfo: readonly string[];
  readonly id_token: readonly string[];
}

export const noClaims: RequestedClaims = { userinfo: [], id_token: [] };

/** Consent to a single claim is recorded in the grant as a scope with this prefix. No token contains such a scope. */
const claimPrefix = "claim:";
export const claimScope = (name: string): string => claimPrefix + name;
/** The claim that such a scope stands for; null for a scope of any other kind. */
export const singleClaim = (scope: string): string | null =>
  scope.startsWith(claimPrefix) ? scope.slice(claimPrefix.length) : null;

/** The claims that every issuer has; discovery adds those of scopes in fixtures. */
export const standardClaimNames: readonly string[] = ["sub", ...standardNames];

const protocolNames = new Set(reservedClaims);

/** The claims of an access token that its client or its user has in `claims`. */
export const ownClaims = (token: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(token).filter(([name]) => !protocolNames.has(name)));

export const isProtocolClaim = (name: string): boolean => protocolNames.has(name);

/** `details` stands for these two of `profile`, unless the format is `standard`. */
const detailsNames = new Set(["website", "birthdate"]);

/** The part of the context that decides which claims clients receive. */
export type Defaults = Pick<Context, "settings" | "address" | "layout">;

const formatFor = ({ settings }: Pick<Context, "settings">, client: Client): Settings["userinfo_format"] =>
  client.userinfo_format ?? settings.userinfo_format;

/** Whether `details` stands for `website` and `birthdate` of `profile`, as in the spec's body. */
const hasDetails = (ctx: Pick<Context, "settings">, client: Client): boolean => formatFor(ctx, client) !== "standard";

/** The scopes that release a claim to this client; empty if the claim is unknown, or always released. */
export function releasingScopes(tx: ReadTx, ctx: Defaults, client: Client, name: string): readonly string[] {
  const standard =
    hasDetails(ctx, client) && detailsNames.has(name)
      ? ["details"]
      : [...standardByScope].flatMap(([scope, claims]) => (claims.includes(name) ? [scope] : []));
  return [...standard, ...tx.findAll("scopes", "claim", name).map((scope) => scope.name)];
}

const textIn = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/**
 * The given and the family name, from the user's own claims, else as parts of the display name: the last word is the family name. A single word
 * is both, because many apps refuse a user without either.
 */
export function nameOf({ displayName, claims }: User): { readonly given_name: string; readonly family_name: string } {
  const words = displayName.trim().split(/\s+/);
  const last = words.at(-1) ?? "";
  return {
    given_name: textIn(claims["given_name"]) ?? (words.length < 2 ? last : words.slice(0, -1).join(" ")),
    family_name: textIn(claims["family_name"]) ?? last,
  };
}

/** The standard claims of a user record. Values in the user's own `claims` replace them. */
export const standardClaims = (user: User): Readonly<Record<string, unknown>> => ({
  name: user.displayName,
  ...nameOf(user),
  preferred_username: user.username,
  picture: user.avatar.path === "" || user.avatar.baseUrl === null ? null : user.avatar.baseUrl + user.avatar.path,
  website: user.website,
  birthdate: user.birthDate,
  locale: user.language,
  updated_at: Math.floor(Date.parse(user.updatedAt) / 1000),
  email: user.email,
  email_verified: user.email === null ? null : user.emailVerified,
  phone_number: user.phone,
  ...user.claims,
});

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

const pick = (from: Readonly<Record<string, unknown>>, names: Iterable<string>): Record<string, unknown> => {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (isSet(ownValue(from, name))) picked[name] = from[name];
  return picked;
};

/**
 * The user's own claims that are not standard ones: each is released always, or with a scope that lists it.
 * @param scopes the granted ones
 */
function extraClaims(tx: ReadTx, user: User, scopes: readonly string[]): Record<string, unknown> {
  const names = Object.keys(user.claims).filter((name) => !standardNames.has(name) && !protocolNames.has(name));
  if (names.length === 0) return {};
  const released = new Set(scopes.flatMap((scope) => tx.get("scopes", scope)?.claims ?? []));
  return pick(
    user.claims,
    names.filter((name) => released.has(name) || !tx.has("scopes", "claim", name)),
  );
}

/** The standard claims that the granted scopes release; none of them null or empty (OpenID Connect Core 5.3.2). */
function releasedStandardClaims(
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  user: User,
  scopes: readonly string[],
): Record<string, unknown> {
  const names = new Set<string>();
  for (const scope of scopes) {
    for (const name of standardByScope.get(scope) ?? []) {
      if (!(hasDetails(ctx, client) && detailsNames.has(name))) names.add(name);
    }
    if (scope === "details" && hasDetails(ctx, client)) for (const name of detailsNames) names.add(name);
    for (const name of tx.get("scopes", scope)?.claims ?? []) if (standardNames.has(name)) names.add(name);
  }
  const { standardClaims: known } = ctx.layout;
  return pick(standardClaims(user), known === undefined ? names : known.filter((name) => names.has(name)));
}

/** What an access token says of the user beside `sub` and `email`: the user's own claims, and those that the vendor has there. */
export const accessTokenClaims = (
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  user: User,
  scopes: readonly string[],
): Record<string, unknown> => ({
  ...extraClaims(tx, userAt(ctx, user), scopes),
  ...pick(releasedStandardClaims(tx, ctx, client, user, scopes), ctx.layout.accessTokenClaims ?? []),
});

/** Claims that were asked for by name, standard ones and the user's own. */
export const namedClaims = (user: User, names: readonly string[]): Record<string, unknown> =>
  names.length === 0
    ? {}
    : pick(
        standardClaims(user),
        names.filter((name) => !protocolNames.has(name)),
      );

/**
 * What an ID token says of the user beside `sub`. A client with `id_token_claims: minimal` gets only what it asks for by name.
 * @param named the claims that the request names under `id_token` and that are granted
 */
export const idTokenClaims = (
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  user: User,
  scopes: readonly string[],
  named: readonly string[],
): Record<string, unknown> =>
  (client.id_token_claims ?? ctx.settings.id_token_claims) === "minimal"
    ? namedClaims(userAt(ctx, user), named)
    : ofApple(
        ctx,
        user,
        Object.assign(standardForm(tx, ctx, client, userAt(ctx, user), scopes), namedClaims(userAt(ctx, user), named)),
      );

const standardForm = (
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  user: User,
  scopes: readonly string[],
): Record<string, unknown> =>
  Object.assign(extraClaims(tx, user, scopes), releasedStandardClaims(tx, ctx, client, user, scopes));

/** Apple says whether the address is the user's own. */
const ofApple = ({ layout }: Defaults, user: User, claims: Record<string, unknown>): Record<string, unknown> =>
  layout.apple === true && claims["email"] !== undefined
    ? { ...claims, is_private_email: hasPrivateEmail(user) }
    : claims;

/** The e-mail address in tokens and in UserInfo. The one in the user's `claims` wins. */
export function emailOf({ claims, email }: User): unknown {
  const value = Object.hasOwn(claims, "email") ? claims["email"] : email;
  return isSet(value) ? value : undefined;
}

/** UserInfo in the native form: the fields of scopes that were not granted are absent. */
function nativeUserInfo(user: User, scopes: readonly string[]): Record<string, unknown> {
  const claimed = emailOf(user);
  const email = typeof claimed === "string" ? claimed : user.email;
  return {
    id: user.id,
    user: {
      displayName: user.displayName,
      username: user.username,
      avatar: { baseUrl: user.avatar.baseUrl, path: user.avatar.path, color: user.avatar.color },
      about: user.about,
      ...(scopes.includes("email") &&
        email !== null && {
          email: {
            username: email.slice(0, email.lastIndexOf("@")),
            domain: email.slice(email.lastIndexOf("@") + 1),
            isVerified:
              (Object.hasOwn(user.claims, "email_verified") ? user.claims["email_verified"] : user.emailVerified) ===
              true,
          },
        }),
      ...(scopes.includes("details") && { website: user.website, location: user.location, birthDate: user.birthDate }),
      ...(scopes.includes("phone") && { phone: user.phone }),
      ...(scopes.includes("social") && { socialLinks: user.socialLinks }),
    },
    language: user.language,
    theme: user.theme,
    createdAt: user.createdAt,
  };
}

/** What the record of a user says: native UserInfo with every scope, and the user's own claims. */
export const everythingOf = (ctx: Defaults, user: User): Record<string, unknown> => ({
  ...nativeUserInfo(userAt(ctx, user), ["email", "details", "phone", "social"]),
  ...user.claims,
});

/**
 * The UserInfo response in the client's `userinfo_format`, always with `sub` (OpenID Connect Core 5.3.2).
 * @param named the claims that the request names under `userinfo` and that are granted
 */
export function userInfo(
  tx: ReadTx,
  ctx: Defaults,
  client: Client,
  given: User,
  scopes: readonly string[],
  named: readonly string[],
): Record<string, unknown> {
  const user = userAt(ctx, given);
  if (ctx.layout.github === true) return githubUser(user, emailOf(user));
  const format = formatFor(ctx, client);
  return {
    sub: user.id,
    // No claim has the name of one of its members: those are reserved.
    ...(format !== "standard" && nativeUserInfo(user, scopes)),
    ...(format !== "native" && standardForm(tx, ctx, client, user, scopes)),
    ...namedClaims(user, named),
  };
}
