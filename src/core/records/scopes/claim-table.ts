/** The claims of the standards and of our own tokens: who sets each, and what may set another value. Layouts of vendors add theirs in `tokens/sign.ts`. */

/** The scopes that release standard claims (OpenID Connect Core 5.4). */
const standardScopes = ["profile", "email", "phone", "address"] as const;
type StandardScope = (typeof standardScopes)[number];

interface ClaimRow {
  readonly name: string;
  /**
   * - `server`: it decides what a token is and what it may do, so nothing else sets it (RFC 7519 4.1, RFC 9068 2.2)
   * - `sign-in`: it says how somebody signed in, or binds tokens to each other; `idp token issue` may set it (OpenID Connect Core 2)
   * - `userinfo`: a member of the native UserInfo
   * - `user`: a standard claim of the user's record, which `claims` of a fixture may replace (OpenID Connect Core 5.1)
   */
  readonly setBy: "server" | "sign-in" | "userinfo" | "user";
  /** The flag of `idp token issue` that sets it. */
  readonly flag?: string;
  /** The issuer of a workload sets it, too, in the tokens of `idp token issue --workload`. */
  readonly inWorkloads?: true;
  /** The scope that releases it. */
  readonly scope?: StandardScope;
}

const rows = (
  ...[setBy, names, scope]:
    | [setBy: Exclude<ClaimRow["setBy"], "user">, names: string, scope?: undefined]
    | [setBy: "user", names: string, scope: StandardScope]
): readonly ClaimRow[] => names.split(" ").map((name) => ({ name, setBy, ...(scope !== undefined && { scope }) }));

const claimTable: readonly ClaimRow[] = [
  { name: "iss", setBy: "server", flag: "wrong-issuer", inWorkloads: true },
  { name: "sub", setBy: "server", flag: "user" },
  { name: "aud", setBy: "server", flag: "audience", inWorkloads: true },
  { name: "exp", setBy: "server", flag: "expires-in", inWorkloads: true },
  { name: "nbf", setBy: "server", flag: "not-yet-valid" },
  { name: "client_id", setBy: "server", flag: "client" },
  { name: "scope", setBy: "server", flag: "scope" },
  { name: "iat", setBy: "server", inWorkloads: true },
  ...rows("server", "jti cnf act may_act events"),
  ...rows("server", "grant epoch era client_epoch exchanged_from family generation refresh_branch claims"),
  ...rows("sign-in", "nonce auth_time acr amr azp sid at_hash c_hash s_hash typ"),
  ...rows("userinfo", "id user language theme createdAt"),
  ...rows("user", "name family_name given_name middle_name nickname preferred_username profile picture", "profile"),
  ...rows("user", "website gender birthdate zoneinfo locale updated_at", "profile"),
  ...rows("user", "email email_verified", "email"),
  ...rows("user", "phone_number phone_number_verified", "phone"),
  ...rows("user", "address", "address"),
];

const namesOf = (fits: (row: ClaimRow) => boolean): readonly string[] =>
  claimTable.filter(fits).map(({ name }) => name);

/** The names that `claims` of users and clients cannot have: they would have no effect. */
export const reservedClaims = namesOf(({ setBy }) => setBy !== "user");

const standardTexts = namesOf(
  ({ name, setBy }) => setBy === "user" && !/^(?:address|updated_at|.*_verified)$/.test(name),
);

/** Whether OpenID Connect Core 5.1 has a text under this name. */
export const isTextClaim = (name: string): boolean => standardTexts.includes(name);

/** The claims that `idp token issue` cannot set, because the token would gain rights that its grant does not have; and the flag instead. */
export const reservedInTokens: ReadonlyMap<string, string | undefined> = new Map(
  claimTable.flatMap(({ name, setBy, flag }) => (setBy === "server" ? [[name, flag]] : [])),
);

/** The names that the claims of a workload cannot have. */
export const reservedInWorkloads = namesOf(({ inWorkloads = false }) => inWorkloads);

/** The standard claims that each of those scopes releases. */
export const standardByScope: ReadonlyMap<string, readonly string[]> = new Map(
  standardScopes.map((name) => [name, namesOf(({ scope }) => scope === name)]),
);

/** The forms of UserInfo, for a client or as the setting of all. */
export const userinfoFormats = ["native", "standard", "combined"] as const;
/** The claims about the user that ID tokens have: all that the scopes release, or as few as possible. */
export const idTokenClaimSets = ["all", "minimal"] as const;
