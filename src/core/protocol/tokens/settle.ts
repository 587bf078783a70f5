import type { Client, ReadTx, Tx } from "../../../store/store.ts";
import { accessTokenClaims, idTokenClaims } from "../../records/scopes/claims.ts";
import { presentClient } from "../../records/clients/clients.ts";
import type { Context, OnTokenInput } from "../../context.ts";
import { sign } from "../../records/keys/signer.ts";
import { claimsNow } from "../../sign-in/grants/grants.ts";
import { OAuthError } from "../../base/errors.ts";
import { accessTokenLife, idToken, prepareKeys, refreshToken, signAccessToken, type Authentication } from "./sign.ts";
import { type AccessTokenSubject, type RefreshPlace, type TokenSubject, addedClaims } from "./claims.ts";

/** A successful answer of the token endpoint for a client that speaks for itself (RFC 6749 4.4.3). */
export interface ClientTokenResponse {
  readonly access_token: string;
  /** `DPoP`: bound to a key (RFC 9449 5). */
  readonly token_type: "Bearer" | "DPoP";
  /** Seconds. */
  readonly expires_in: number;
  /** Absent where there are no scopes: a scope has at least one character (RFC 6749 3.3). */
  readonly scope?: string;
}

/** A successful answer of the token endpoint for a user (RFC 6749 5.1, OpenID Connect Core 3.1.3.3). */
export interface TokenResponse extends ClientTokenResponse {
  /** Absent: the setting `refresh_requires_offline_access`. */
  readonly refresh_token?: string;
  readonly id_token: string;
}

/** What every answer has. */
export interface AnyTokenResponse {
  readonly access_token: string;
  readonly token_type: string;
  readonly scope?: string;
  readonly refresh_token?: string;
}

/** The result of a grant type. Some add members of their own to the response. */
export interface TokenResult<R extends AnyTokenResponse = ClientTokenResponse> {
  readonly response: R;
  /** Null: the client speaks for itself. */
  readonly username: string | null;
  /** What the ledger says beside the tokens. */
  readonly remark?: string;
}

/** What the tokens will say: planned inside a transaction, signed after it. */
export interface TokenPlan {
  readonly subject: TokenSubject;
  readonly authentication: Authentication;
  readonly refreshPlace: RefreshPlace;
  /** Only for a code: a refreshed ID token has none (OpenID Connect Core 12.2). */
  readonly nonce: string | null;
  /** What the refresh token may ask for: more than the subject's where a refresh narrowed those (RFC 6749 6). */
  readonly refreshScopes: readonly string[];
  readonly refreshResources: readonly string[];
  /** Where rotation is off, the refresh token stays the one that was sent. */
  readonly keptRefreshToken: string | null;
  /** No refresh token, by the vendor's rule. */
  readonly withoutRefresh: boolean;
}

/** What an access token will say, alone. */
export interface AccessTokenPlan {
  readonly subject: AccessTokenSubject;
  /** Null: no user signed in. */
  readonly authentication: Pick<Authentication, "acr" | "authTime"> | null;
}

interface UserClaims {
  readonly access: Record<string, unknown>;
  readonly id: Record<string, unknown>;
}

/** The claims of the user that go into tokens of this subject. */
export const userClaimsOf = (
  tx: ReadTx,
  ctx: Pick<Context, "settings" | "address" | "layout">,
  { client, user, grant, scopes, claims }: TokenSubject,
): UserClaims => ({
  access: accessTokenClaims(tx, ctx, client, user, scopes),
  id: idTokenClaims(tx, ctx, client, user, scopes, claimsNow(tx, ctx, { client, grant, origins: [] }, claims.id_token)),
});

/** The claims of the user or, where a client speaks for itself, of that client. */
function accessClaimsOf(
  tx: ReadTx,
  ctx: Context,
  { client, user, scopes, exchanged }: AccessTokenSubject,
): Record<string, unknown> {
  if (user !== null) return accessTokenClaims(tx, ctx, client, user, scopes);
  return { ...(exchanged === undefined ? client : tx.get("clients", exchanged.sub))?.claims };
}

/** The members that every successful answer has. */
const accessTokenAnswer = (ctx: Context, accessToken: string, subject: AccessTokenSubject): ClientTokenResponse => ({
  access_token: accessToken,
  token_type: subject.jkt === null ? "Bearer" : "DPoP",
  expires_in: accessTokenLife(ctx, subject),
  ...(subject.scopes.length > 0 && { scope: subject.scopes.join(" ") }),
});

/** GitHub's answer has no more than this: its tokens do not expire. Nothing there has the members that the type asks for beside. */
const githubAnswer = (accessToken: string, { scopes }: AccessTokenSubject): TokenResponse =>
  ({ access_token: accessToken, scope: scopes.join(","), token_type: "bearer" }) as unknown as TokenResponse;

/**
 * Plans the tokens for this client in one transaction, and signs them after it.
 * @param settle runs in the transaction, with the client as it is then; a refusal that also changes data is returned, and thrown afterwards
 * @throws {OAuthError} of `settle`; invalid_client if the client is gone @throws {StorageError} then the code was not used up
 */
export async function settleTokens(
  ctx: Context,
  client: Client,
  settle: (tx: Tx, client: Client) => TokenPlan | OAuthError,
): Promise<TokenResult<TokenResponse>> {
  // Creates missing keys first: if that fails, the code is not used up.
  await prepareKeys(ctx, client);
  const added = await addedBefore(ctx, (tx) => settle(tx, presentClient(tx, client)));
  const outcome = await ctx.store.transaction((tx) => {
    const plan = settle(tx, presentClient(tx, client));
    return plan instanceof OAuthError ? plan : { plan, userClaims: userClaimsOf(tx, ctx, plan.subject) };
  });
  if (outcome instanceof OAuthError) throw outcome;
  const { access, id } = outcome.userClaims;
  return signTokens(ctx, outcome.plan, { access: { ...access, ...added.access }, id: { ...id, ...added.id } });
}

/** Leaves a transaction without its changes. */
class RolledBack extends Error {
  readonly plan: TokenPlan | AccessTokenPlan | OAuthError;
  constructor(plan: RolledBack["plan"]) {
    super("undone");
    this.plan = plan;
  }
}

/**
 * The claims that `onToken` adds. It is asked before anything is changed, and outside a transaction: so if it throws, nothing is issued. The
 * plan that names the user is made in a transaction whose changes are left out.
 * @throws {HookError}
 */
async function addedBefore(
  ctx: Context,
  settle: (tx: Tx) => RolledBack["plan"],
  kinds: readonly OnTokenInput["kind"][] = ["access", "id"],
): Promise<Partial<Record<OnTokenInput["kind"], Readonly<Record<string, unknown>>>>> {
  const { onToken } = ctx;
  if (onToken === null) return {};
  const plan = await ctx.store
    .transaction((tx): never => {
      throw new RolledBack(settle(tx));
    })
    .catch((error: unknown) => {
      if (error instanceof RolledBack) return error.plan;
      throw error;
    });
  if (plan instanceof OAuthError) return {};
  const claims = kinds.map(async (kind) => [kind, await addedClaims(onToken, kind, plan.subject)] as const);
  return Object.fromEntries(await Promise.all(claims));
}

/**
 * As {@link settleTokens}, for an access token alone. A refusal of `settle` changes nothing.
 * @throws {OAuthError} of `settle`; invalid_client if the client is gone @throws {StorageError}
 */
export async function settleAccessToken(
  ctx: Context,
  authenticated: Client,
  settle: (tx: Tx, client: Client) => AccessTokenPlan,
): Promise<TokenResult> {
  const added = await addedBefore(ctx, (tx) => settle(tx, presentClient(tx, authenticated)), ["access"]);
  const { subject, authentication, claims } = await ctx.store.transaction((tx) => {
    const plan = settle(tx, presentClient(tx, authenticated));
    return { ...plan, claims: accessClaimsOf(tx, ctx, plan.subject) };
  });
  const accessToken = await signAccessToken(ctx, subject, { ...claims, ...added.access }, authentication);
  return { response: accessTokenAnswer(ctx, accessToken, subject), username: subject.user?.username ?? null };
}

const withoutOfflineAccess =
  "no refresh token: offline_access was not granted, and the setting refresh_requires_offline_access is on";

const withoutAccessType =
  "no refresh token: Google gives one only for access_type=offline, at the first consent or with prompt=consent";

/** Signs the settled tokens. */
async function signTokens(ctx: Context, plan: TokenPlan, userClaims: UserClaims): Promise<TokenResult<TokenResponse>> {
  const { subject, authentication } = plan;
  const accessToken = await signAccessToken(ctx, subject, userClaims.access, authentication);
  const { username } = subject.user;
  if (ctx.layout.github === true) return { response: githubAnswer(accessToken, subject), username };
  const refreshed = { ...subject, scopes: plan.refreshScopes, resources: plan.refreshResources };
  const content = { claims: userClaims.id, nonce: plan.nonce, accessToken };
  const isOffline = !ctx.settings.refresh_requires_offline_access || plan.refreshScopes.includes("offline_access");
  const hasKept = plan.keptRefreshToken !== null && ctx.layout.keepsRefreshToken === true;
  const response = {
    ...accessTokenAnswer(ctx, accessToken, subject),
    ...(isOffline &&
      !plan.withoutRefresh &&
      !hasKept && {
        refresh_token:
          plan.keptRefreshToken ?? (await sign(await refreshToken(ctx, refreshed, authentication, plan.refreshPlace))),
      }),
    id_token: await sign(await idToken(ctx, subject, authentication, content)),
  };
  const remark = plan.withoutRefresh ? withoutAccessType : isOffline ? undefined : withoutOfflineAccess;
  return { response, username, ...(remark !== undefined && { remark }) };
}
