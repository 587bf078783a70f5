/*
 * core/records/scopes: what an app may ask for. scopes.ts knows the names, claim-table.ts each claim, claims.ts what a scope releases.
 * claims-parameter.ts reads the single claims that a request asks for, resources.ts the APIs that a token is meant for.
 */
import type { Client, ReadTx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OAuthError, type Paragraph } from "../../base/errors.ts";
import { standardByScope } from "./claim-table.ts";
import { releasingScopes, type Defaults } from "./claims.ts";
import { nearest } from "../../base/nearest.ts";
import { addScopes } from "../fix-commands.ts";

/**
 * The scopes that no fixture has to define: `openid`, those of OpenID Connect Core 5.4, `details` and `social` of the native UserInfo, and
 * `offline_access` (Core 11), which any client may ask for: the setting `refresh_requires_offline_access` makes refresh tokens depend on it.
 */
export const builtInScopes = [
  "openid",
  "profile",
  "email",
  "details",
  "phone",
  "social",
  "address",
  "offline_access",
] as const;

const builtIn: ReadonlyMap<string, string> = new Map(builtInScopes.map((name) => [name, name]));

/** The part of the context that decides which scopes there are. */
type ScopesOf = Pick<Context, "layout">;

/** The scopes that every client may ask for without a fixture: the vendor's, or those above. */
const namesOf = ({ layout }: ScopesOf): readonly string[] => layout.scopes?.names ?? builtInScopes;

/**
 * Scope names of a space-separated list, each once (RFC 6749 3.3). A built-in name is always the same string object, which all grants
 * share.
 */
export function splitScope(scope = ""): string[] {
  const names = new Set<string>();
  for (const name of scope.split(" ")) if (name !== "") names.add(builtIn.get(name) ?? name);
  return [...names];
}

/** Whether this scope is built in, or defined by a fixture. */
export const isKnown = (tx: ReadTx, ctx: ScopesOf, name: string): boolean =>
  namesOf(ctx).includes(name) || tx.get("scopes", name) !== undefined;

/** Whether this scope may be granted. Some vendors grant any. */
export const isDefined = (tx: ReadTx, ctx: ScopesOf, name: string): boolean =>
  ctx.layout.scopes?.any === true || isKnown(tx, ctx, name);

/** A scope that may be asked for. */
export interface ScopeView {
  readonly name: string;
  /** False: a fixture defines it. */
  readonly builtIn: boolean;
  /** By language. */
  readonly description: Readonly<Record<string, string>>;
  /** The claims that it releases. */
  readonly claims: readonly string[];
}

const descriptions: Readonly<Record<string, string>> = {
  openid: "Who the user is",
  profile: "The user's profile",
  email: "The e-mail address",
  details: "Website, location and birth date",
  phone: "The phone number",
  social: "Social links",
  address: "The postal address",
  offline_access: "A refresh token, where the setting refresh_requires_offline_access is on",
  name: "The name, once",
  user: "The user's profile and e-mail addresses",
  "read:user": "The user's profile",
  "user:email": "The e-mail addresses",
  "read:org": "The organizations of the user",
};

/** What the other built-in scopes release: fields of the native UserInfo. */
const otherClaims: Readonly<Partial<Record<string, readonly string[]>>> = {
  openid: ["sub"],
  details: ["website", "location", "birthDate"],
  social: ["socialLinks"],
};

/** Every scope: the built-in ones, then those of fixtures. */
export const listScopes = (ctx: Context): Promise<readonly ScopeView[]> =>
  ctx.store.read((tx) => [
    ...namesOf(ctx).map((name) => ({
      name,
      builtIn: true,
      description: { en: descriptions[name] ?? name },
      claims: standardByScope.get(name) ?? otherClaims[name] ?? [],
    })),
    ...[...tx.all("scopes")].map((scope) => ({ builtIn: false, ...scope })),
  ]);

/** The names of all of them, and the claims that those of fixtures release. */
export const supportedScopes = (
  ctx: Context,
): Promise<{ readonly scopes: readonly string[]; readonly claims: readonly string[] }> =>
  ctx.store.read((tx) => {
    const own = [...tx.all("scopes")];
    return { scopes: [...namesOf(ctx), ...own.map(({ name }) => name)], claims: own.flatMap(({ claims }) => claims) };
  });

/** The names in the `scope` of each client. It may hold thousands of them, and each scope of a request is looked up there. */
const scopesOfClients = new WeakMap<Client, ReadonlySet<string>>();

function scopesOf(client: Client): ReadonlySet<string> {
  const known = scopesOfClients.get(client) ?? new Set(splitScope(client.scope));
  scopesOfClients.set(client, known);
  return known;
}

/** Whether the client's registered `scope` includes this one; a client without `scope` may ask for any. */
export const mayAsk = (client: Client, name: string): boolean =>
  client.scope === undefined || name === "offline_access" || scopesOf(client).has(name);

/** At most so many scopes of fixtures are named in a refusal, so that it costs the same however many there are. */
const maxNamed = 200;

/** The names of scopes that a refusal may propose. */
function* proposed(tx: ReadTx, ctx: ScopesOf): Generator<string> {
  yield* namesOf(ctx);
  let left = maxNamed;
  for (const { name } of tx.all("scopes")) {
    if (left === 0) return;
    left -= 1;
    yield name;
  }
}

/** Whether one of the scopes that release a claim is one that the client may ask for. */
export const mayAskClaim = (tx: ReadTx, ctx: Defaults, client: Client, name: string): boolean =>
  releasingScopes(tx, ctx, client, name).some((scope) => mayAsk(client, scope));

/**
 * The scopes a request asks for, out of those defined and the client's own.
 * @param requested the `scope` parameter; undefined or empty means `openid`, or with some vendors no scope
 * @returns the scopes in the order of the request, and the names that nobody defined, which are ignored
 * @throws {OAuthError} invalid_scope
 */
export function resolveScopes(
  tx: ReadTx,
  ctx: ScopesOf,
  client: Client,
  requested: string | undefined,
): { scopes: string[]; ignored: string[] } {
  const hasAny = ctx.layout.scopes?.any === true;
  const asked = splitScope(hasAny ? requested?.replaceAll(",", " ") : requested);
  const names = asked.length === 0 && !hasAny ? ["openid"] : asked;
  const scopes = names.filter((name) => isDefined(tx, ctx, name));
  const ignored = names.filter((name) => !isDefined(tx, ctx, name));
  if (scopes.length === 0 && !hasAny) {
    const defined = [...proposed(tx, ctx)];
    const meant = names.length === 1 ? nearest(names[0] ?? "", defined) : undefined;
    const question = meant === undefined ? "" : `; did you mean ${meant}?`;
    throw new OAuthError("invalid_scope", `no scope in "${names.join(" ")}" is defined here${question}`, {
      rule: "RFC 6749 3.3",
      parameter: "scope",
      fix: `Define it under "scopes" in a fixture file, or ask for some of: ${defined.filter((name) => mayAsk(client, name)).join(" ")}`,
    });
  }
  const foreign = scopes.filter((name) => !mayAsk(client, name));
  if (foreign.length > 0) throw foreignScopes(client, foreign);
  return { scopes, ignored };
}

/** The scope that a request asks for: some vendors take `openid` alone for more, within the client's own. */
export function impliedScope(
  { layout: { impliedScopes } }: Pick<Context, "layout">,
  client: Client,
  requested: string | undefined,
): string | undefined {
  if (impliedScopes === undefined || (requested ?? "openid").trim() !== "openid") return requested;
  return ["openid", ...impliedScopes.filter((name) => mayAsk(client, name))].join(" ");
}

/** The refusal of scopes that are not the client's own. */
export function foreignScopes(client: Client, foreign: readonly string[]): OAuthError {
  return new OAuthError(
    "invalid_scope",
    `client "${client.client_id}" may not ask for "${foreign.join(" ")}": its registered scope is "${client.scope ?? ""}"`,
    { rule: "RFC 6749 3.3", parameter: "scope", fix: addScopes(client, foreign) },
  );
}

/**
 * The granted scopes that a request asks for; all of them if it names none.
 * @param whose the token that has them, and `why` no other scope is given, for the message
 * @throws {OAuthError} invalid_scope, for a scope that is not among them
 */
export function narrowScope(
  granted: readonly string[],
  scope: string | undefined,
  whose: string,
  { why, rule }: { readonly why: string; readonly rule: Paragraph },
): readonly string[] {
  const asked = splitScope(scope ?? "");
  if (asked.length === 0) return granted;
  const wider = asked.filter((name) => !granted.includes(name));
  if (wider.length === 0) return asked;
  const message = `scope "${wider.join(" ")}" is not part of ${whose} "${granted.join(" ")}": ${why}`;
  throw new OAuthError("invalid_scope", message, {
    rule,
    parameter: "scope",
    fix: `leave scope out, or ask for some of: ${granted.join(" ")}`,
  });
}
