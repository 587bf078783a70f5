import { singleFactor } from "../../records/step-up/proofs.ts";
import type { Client, Grant, Tx, User } from "../../../store/store.ts";
import { noClaims } from "../../records/scopes/claims.ts";
import { isPublic, mayUse, requiresPkce } from "../../records/clients/clients.ts";
import { drawCode } from "./codes.ts";
import type { Context } from "../../context.ts";
import { OAuthError, OperationError } from "../../base/errors.ts";
import { requireClient } from "../../records/clients/admin.ts";
import { viewGrant, type GrantView } from "../../sign-in/grants/admin.ts";
import { recordGrant } from "../../sign-in/grants/grants.ts";
import { addRedirectUri, restoreUser } from "../../records/fix-commands.ts";
import { requireUser } from "../../records/users/users.ts";
import { settleTokens, type TokenResponse } from "./settle.ts";
import { type AuthenticationInfo } from "../../records/step-up/acr.ts";
import { defaultAuthenticationInfo, authenticationInfoFor } from "../../sign-in/factors/admin.ts";
import { answerClient, responseLocation } from "../../sign-in/response.ts";
import { allowanceFor, registeredAddresses } from "../../records/clients/redirect-patterns.ts";
import { resolveScopes } from "../../records/scopes/scopes.ts";
import { planTokens } from "./plan.ts";
import { userRefusal } from "./state.ts";
import { seconds } from "../../../text/time.ts";
import { deviceGrantType } from "./grant-types/device-code.ts";

/** Grants, codes and tokens without a browser, under the same rules. */

export interface IssueInput {
  /** User name. */
  readonly user: string;
  /** Client id. */
  readonly client: string;
  /** Space-separated; absent: `openid`, as in an authorization request. */
  readonly scope?: string | undefined;
}

/** The refusals of the protocol, in the words of an operation. */
export function asOperation<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    throw new OperationError("refused", error.message, {
      cause: error,
      ...(error.fix === null ? {} : { hint: error.fix }),
    });
  }
}

/** User, client and scopes under the rules of an authorization request; the grant is recorded as if the user had allowed it. */
export function approve(
  tx: Tx,
  ctx: Context,
  input: IssueInput,
  grantTypes: readonly string[] = ["authorization_code", deviceGrantType],
): { user: User; client: Client; grant: Grant; scopes: readonly string[] } {
  const user = requireUser(tx, input.user);
  const client = requireClient(tx, input.client);
  const refusal = userRefusal(user);
  if (refusal !== null) {
    throw new OperationError("refused", refusal.detail, { hint: { ...restoreUser(user), text: "To restore" } });
  }
  if (!grantTypes.some((grantType) => mayUse(client, grantType))) {
    throw new OperationError(
      "refused",
      `client "${client.client_id}" may not use ${grantTypes[0] ?? ""}, so no user can grant it ${grantTypes.length > 1 ? "anything" : "a code"}`,
      isPublic(client) || !mayUse(client, "client_credentials")
        ? {}
        : { hint: { text: "For itself", command: ["idp", "token", "issue", "--client", client.client_id] } },
    );
  }
  const { scopes } = asOperation(() => resolveScopes(tx, ctx, client, input.scope));
  const grant = recordGrant(tx, ctx, { user, client, asked: scopes, allowed: scopes, by: "cli" });
  return { user, client, grant, scopes };
}

/** Records the consent of a user for a client. @throws {OperationError} not_found, refused */
export const issueGrant = (ctx: Context, input: IssueInput): Promise<GrantView> =>
  ctx.store.transaction((tx) => viewGrant(tx, approve(tx, ctx, input).grant));

/** The claims about a sign-in for tokens that are issued without one: as if the user had been picked from the list. */
export const pickedAuthenticationInfo = (ctx: Context): AuthenticationInfo => ({
  acr: singleFactor,
  authTime: seconds(ctx),
  amr: ["user"],
});

/** The same, with the factors that an `acr` needs: the named one, else one that the client asks for by default. @throws {OperationError} */
const issuedAuthenticationInfo = (ctx: Context, user: User, client: Client, acr?: string): AuthenticationInfo =>
  acr === undefined
    ? (defaultAuthenticationInfo(ctx, user, client) ?? pickedAuthenticationInfo(ctx))
    : authenticationInfoFor(ctx, user, acr);

export interface IssueCodeInput extends IssueInput {
  /** Absent: the client's first registered one without `*`. */
  readonly redirect_uri?: string | undefined;
  /** Comes back in the address. */
  readonly state?: string | undefined;
  /** Goes into the ID token. */
  readonly nonce?: string | undefined;
  /** The base64url of the SHA-256 hash of the verifier (RFC 7636 4.2). Public clients need one. */
  readonly code_challenge?: string | undefined;
  readonly code_challenge_method?: "S256" | undefined;
  /** As if the user had met this value. */
  readonly acr?: string | undefined;
}

/** A code that waits to be exchanged. */
export interface IssuedCode {
  readonly code: string;
  readonly redirect_uri: string;
  /** The address the browser would be sent to. */
  readonly url: string;
  /** Seconds. */
  readonly expires_in: number;
}

/** An authorization code. @throws {OperationError} not_found, refused */
export function issueCode(ctx: Context, input: IssueCodeInput): Promise<IssuedCode> {
  const codeChallenge = input.code_challenge ?? null;
  return ctx.store.transaction((tx) => {
    const { user, client, grant, scopes } = approve(tx, ctx, input, ["authorization_code"]);
    const redirectUri = chooseRedirectUri(ctx, client, input.redirect_uri);
    if (codeChallenge === null && requiresPkce(client)) {
      throw new OperationError("refused", `client "${client.client_id}" must use PKCE (RFC 7636 4.3)`, {
        hint: "Give the base64url of its verifier's SHA-256 hash: --code-challenge CHALLENGE",
      });
    }
    const request: Parameters<typeof drawCode>[3] = {
      issuerPath: ctx.layout.issuer,
      redirectUri,
      scopes,
      nonce: input.nonce ?? null,
      codeChallenge,
      claims: noClaims,
      resources: [],
      dpopJkt: null,
    };
    const authentication = issuedAuthenticationInfo(ctx, user, client, input.acr);
    const code = drawCode(tx, ctx, { client, user, grant, session: null, authentication }, request);
    const target = {
      issuer: ctx.issuer,
      redirectUri,
      pattern: null,
      state: input.state ?? null,
      mode: "query",
    } as const;
    return {
      code,
      redirect_uri: redirectUri,
      url: responseLocation(answerClient(target, { code })),
      expires_in: ctx.settings.code_ttl,
    };
  });
}

/** An address that the client may use, where what is registered leaves the port or the host open. */
const exampleOf = ({ redirect_uris: [uri], redirect_patterns: [pattern] = [] }: Client): string | undefined =>
  uri?.replace("*", "53682") ?? pattern?.replace("*", "preview");

function chooseRedirectUri(ctx: Context, client: Client, asked: string | undefined): string {
  const chosen = asked ?? client.redirect_uris.find((uri) => !uri.includes("*"));
  if (chosen === undefined) {
    throw new OperationError("refused", `client "${client.client_id}" has no redirect URI with a fixed port`, {
      hint: { text: "Name one", command: ["--redirect-uri", exampleOf(client) ?? "URI"] },
    });
  }
  if (allowanceFor(ctx, client, chosen) === null) {
    const registered = registeredAddresses(client).join("  ");
    throw new OperationError(
      "refused",
      `redirect_uri "${chosen}" is not registered for client "${client.client_id}"; registered: ${registered}`,
      { hint: addRedirectUri(client, chosen, ctx.settings) },
    );
  }
  return chosen;
}

/** The tokens a client would get for a code. @throws {OperationError} not_found, refused */
export async function issueTokens(
  ctx: Context,
  input: IssueInput & { readonly nonce?: string | undefined; readonly acr?: string | undefined },
): Promise<TokenResponse> {
  const named = await ctx.store.read((tx) => requireClient(tx, input.client));
  const { response } = await settleTokens(ctx, named, (tx) => {
    const { user, client, grant, scopes } = approve(tx, ctx, input);
    const authentication = { ...issuedAuthenticationInfo(ctx, user, client, input.acr), sid: null };
    const approved = { user, grant, authentication };
    const asked = { scopes, resources: [], refreshResources: [], nonce: input.nonce ?? null, jkt: null };
    return planTokens(tx, ctx, client, approved, asked);
  });
  return response;
}
