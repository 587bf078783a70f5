import type { Client, ReadTx, User } from "../store/store.ts";

/** Which claims a scope releases, in the three forms of CONTRACT 2.5. */

/** OpenID Connect Core 5.4. */
const standardByScope: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "profile",
    [
      "name",
      "family_name",
      "given_name",
      "middle_name",
      "nickname",
      "preferred_username",
      "profile",
      "picture",
      "website",
      "gender",
      "birthdate",
      "zoneinfo",
      "locale",
      "updated_at",
    ],
  ],
  ["email", ["email", "email_verified"]],
  ["phone", ["phone_number", "phone_number_verified"]],
  ["address", ["address"]],
]);

const standardNames = new Set([...standardByScope.values()].flat());

/** A claim that was asked for by itself is granted as a scope of its own. */
const claimPrefix = "claim:";
export const claimScope = (name: string): string => claimPrefix + name;
/** The claim that such a scope stands for; null for a scope of any other kind. */
export const singleClaim = (scope: string): string | null =>
  scope.startsWith(claimPrefix) ? scope.slice(claimPrefix.length) : null;

/** What discovery lists as `claims_supported`. */
export const standardClaimNames: readonly string[] = ["sub", ...standardNames];

/** Claims by which tokens work; a user's `claims` never set them (RFC 7519 4.1, OpenID Connect Core 2, RFC 9068 2.2). */
const protocolNames = new Set(
  (
    "iss sub aud exp nbf iat jti nonce auth_time acr amr azp sid at_hash c_hash s_hash client_id scope cnf act may_act events typ " +
    "id user language theme createdAt grant epoch client_epoch exchanged_from family generation"
  ).split(" "),
);

/** In a native client `details` stands for these two of `profile` (CONTRACT 2.5). */
const detailsNames = new Set(["website", "birthdate"]);

const isNative = (client: Client): boolean => (client.userinfo_format ?? "native") === "native";

/** The scopes that release a claim to this client; none where it is unknown here, or released always. */
export function releasingScopes(tx: ReadTx, client: Client, name: string): readonly string[] {
  const standard =
    isNative(client) && detailsNames.has(name)
      ? ["details"]
      : [...standardByScope].flatMap(([scope, claims]) => (claims.includes(name) ? [scope] : []));
  const own = [...tx.all("scopes")].flatMap((scope) => (scope.claims.includes(name) ? [scope.name] : []));
  return [...standard, ...own];
}

/** The standard claims of a user record. Values in the user's own `claims` replace them. */
const standardClaims = (user: User): Readonly<Record<string, unknown>> => ({
  name: user.displayName,
  preferred_username: user.username,
  picture: user.avatar.path === "" ? null : user.avatar.baseUrl + user.avatar.path,
  website: user.website,
  birthdate: user.birthDate,
  locale: user.language,
  updated_at: Math.floor(Date.parse(user.updatedAt) / 1000),
  email: user.email,
  email_verified: user.emailVerified,
  phone_number: user.phone,
  ...user.claims,
});

const isSet = (value: unknown): boolean => value !== undefined && value !== null && value !== "";

const pick = (from: Readonly<Record<string, unknown>>, names: Iterable<string>): Record<string, unknown> => {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (isSet(from[name])) picked[name] = from[name];
  return picked;
};

/**
 * The user's own claims that are not standard ones: each is released always, or with a scope that lists it.
 * @param scopes the granted ones
 */
export function extraClaims(tx: ReadTx, user: User, scopes: readonly string[]): Record<string, unknown> {
  const names = Object.keys(user.claims).filter((name) => !standardNames.has(name) && !protocolNames.has(name));
  if (names.length === 0) return {};
  const listed = new Set<string>();
  const released = new Set<string>();
  for (const scope of tx.all("scopes")) {
    for (const name of scope.claims) {
      (scopes.includes(scope.name) || scopes.includes(claimScope(name)) ? released : listed).add(name);
    }
  }
  return pick(
    user.claims,
    names.filter((name) => released.has(name) || !listed.has(name)),
  );
}

/** The standard claims that the granted scopes release; none of them null or empty (OpenID Connect Core 5.3.2). */
function releasedStandardClaims(
  tx: ReadTx,
  client: Client,
  user: User,
  scopes: readonly string[],
): Record<string, unknown> {
  const names = new Set<string>();
  for (const scope of scopes) {
    const single = singleClaim(scope);
    if (single !== null && standardNames.has(single)) names.add(single);
    for (const name of standardByScope.get(scope) ?? []) {
      if (!(isNative(client) && detailsNames.has(name))) names.add(name);
    }
    if (scope === "details" && isNative(client)) for (const name of detailsNames) names.add(name);
    for (const name of tx.get("scopes", scope)?.claims ?? []) if (standardNames.has(name)) names.add(name);
  }
  return pick(standardClaims(user), names);
}

/** What an ID token says of the user beside `sub`; nothing for a client with `id_token_claims: minimal`. */
export function idTokenClaims(
  tx: ReadTx,
  client: Client,
  user: User,
  scopes: readonly string[],
): Record<string, unknown> {
  if (client.id_token_claims === "minimal") return releasedStandardClaims(tx, client, user, askedSingly(scopes));
  return standardForm(tx, client, user, scopes);
}

/** Claims that were asked for by name. */
const askedSingly = (scopes: readonly string[]): readonly string[] =>
  scopes.filter((scope) => singleClaim(scope) !== null);

const standardForm = (tx: ReadTx, client: Client, user: User, scopes: readonly string[]): Record<string, unknown> =>
  Object.assign(extraClaims(tx, user, scopes), releasedStandardClaims(tx, client, user, scopes));

/** UserInfo as the spec has it: the fields of scopes that were not granted are absent. */
function nativeUserInfo(user: User, scopes: readonly string[]): Record<string, unknown> {
  const at = user.email.lastIndexOf("@");
  return {
    id: user.id,
    user: {
      displayName: user.displayName,
      username: user.username,
      avatar: { baseUrl: user.avatar.baseUrl, path: user.avatar.path, color: user.avatar.color },
      about: user.about,
      ...(scopes.includes("email") && {
        email: { username: user.email.slice(0, at), domain: user.email.slice(at + 1), isVerified: user.emailVerified },
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

/** All that clients may be told of a user: UserInfo with every scope of the spec, and the user's own claims. */
export const everythingOf = (user: User): Record<string, unknown> => ({
  ...nativeUserInfo(user, ["email", "details", "phone", "social"]),
  ...user.claims,
});

/** The UserInfo answer in the client's `userinfo_format`; always with `sub` (OpenID Connect Core 5.3.2). */
export function userInfo(tx: ReadTx, client: Client, user: User, scopes: readonly string[]): Record<string, unknown> {
  const format = client.userinfo_format ?? "native";
  return {
    sub: user.id,
    ...(format === "native"
      ? releasedStandardClaims(tx, client, user, askedSingly(scopes))
      : standardForm(tx, client, user, scopes)),
    ...(format !== "standard" && nativeUserInfo(user, scopes)),
  };
}
