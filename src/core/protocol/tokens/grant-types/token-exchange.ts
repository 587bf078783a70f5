import type { Client, ReadTx } from "../../../../store/store.ts";
import { noClaims } from "../../../records/scopes/claims.ts";
import { verifyAccessToken } from "../accept.ts";
import { jwtOf } from "../opaque.ts";
import { TokenProblem } from "../token-problem.ts";
import type { Context } from "../../../context.ts";
import { OAuthError } from "../../../base/errors.ts";
import type { Hint } from "../../../base/hint.ts";
import { planSubject } from "../plan.ts";
import { settleAccessToken, type AccessTokenPlan, type ClientTokenResponse, type TokenResult } from "../settle.ts";
import { checkResources } from "../../../records/scopes/resources.ts";
import { mayStillAsk, scopesNow } from "../../../sign-in/grants/grants.ts";
import { foreignScopes, narrowScope } from "../../../records/scopes/scopes.ts";
import { isDead, tokenState, type LiveToken } from "../state.ts";
import type { Actor, Origin, TokenClaims } from "../claims.ts";
import { isAbsoluteUri } from "../../../base/identifiers.ts";
import { idJagType, issueIdJag, type IdJagResponse } from "./id-jag-issue.ts";
import { grantType, type Values } from "./grant-type.ts";

/**
 * Token exchange (RFC 8693). For an ID-JAG see id-jag-issue.ts. Otherwise a client takes the access token that it was called with, and gets one to call others with. With an
 * actor token the new one says who acts for the subject (delegation); without one nobody but the subject shows (impersonation).
 */

const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";
/** RFC 8693 3: a JWT, as every access token here is one. Spring sends it by default. */
const jwtType = "urn:ietf:params:oauth:token-type:jwt";

/** The parameters of RFC 8693 2.1. */
const parameters = {
  subject_token: "secret",
  subject_token_type: "open",
  actor_token: "secret",
  actor_token_type: "open",
  requested_token_type: "open",
  resource: "list",
  audience: "list",
  scope: "open",
} as const;
type TokenExchange = Values<typeof parameters>;

export const tokenExchange = grantType({
  name: "urn:ietf:params:oauth:grant-type:token-exchange",
  parameters,
  needs: { what: "authentication", rule: "RFC 8693 5" },
  grant: exchangeToken,
});

/** RFC 8693 2.2.1. */
interface ExchangeResponse extends ClientTokenResponse {
  readonly issued_token_type: typeof accessTokenType;
}

/** @throws {OAuthError} invalid_request, invalid_scope, invalid_target */
async function exchangeToken(
  ctx: Context,
  authenticated: Client,
  request: TokenExchange,
  jkt: string | null,
): Promise<TokenResult<ExchangeResponse | IdJagResponse>> {
  if (request.requested_token_type === idJagType) return issueIdJag(ctx, authenticated, request);
  checkTypes(request);
  const subjectClaims = await readToken(ctx, "subject_token", request.subject_token, jkt);
  const actorClaims =
    request.actor_token === undefined ? null : await readToken(ctx, "actor_token", request.actor_token, jkt);
  const resources = checkResources(ctx, request.resource);
  const { response, username } = await settleAccessToken(ctx, authenticated, (tx, client): AccessTokenPlan => {
    const alive = requireAlive(tx, "subject_token", subjectClaims);
    const { user, grant } = alive;
    if (actorClaims !== null) requireAlive(tx, "actor_token", actorClaims);
    const { sub, acr, auth_time: authTime, family = null } = subjectClaims;
    // Grant, epoch, family and origins are inherited, so whatever ends the subject's token ends this one.
    const subject = planSubject(tx, ctx, client, user === null || grant === null ? null : { user, grant, family }, {
      scopes: narrowScopes(tx, ctx, client, alive, subjectClaims.scope, request.scope),
      claims: { ...noClaims, userinfo: subjectClaims.claims?.userinfo ?? [] },
      resources: [...new Set([...resources, ...checkAudience(tx, request.audience)])],
      jkt,
    });
    const exchanged = {
      sub,
      expiresAt: Math.min(subjectClaims.exp, actorClaims?.exp ?? Infinity),
      act: actorOf(subjectClaims, actorClaims),
      origins: [...(subjectClaims.exchanged_from ?? []), originOf(subjectClaims)],
    };
    const authentication = acr === undefined || authTime === undefined ? null : { acr, authTime };
    return { subject: { ...subject, exchanged }, authentication };
  });
  return { response: { ...response, issued_token_type: accessTokenType }, username };
}

/** RFC 8693 2.1: which types go with which tokens. */
function checkTypes(request: TokenExchange): void {
  for (const name of ["subject_token", "actor_token"] as const) {
    const type = request[`${name}_type`];
    if (request[name] === undefined) {
      if (name === "subject_token")
        throw new OAuthError("invalid_request", "subject_token is missing", {
          rule: "RFC 8693 2.1",
          fix: "send the access token of the user as subject_token",
        });
      if (type === undefined) continue;
      throw new OAuthError("invalid_request", `${name}_type is sent without ${name}`, {
        rule: "RFC 8693 2.1",
        parameter: `${name}_type`,
        fix: `send ${name} too, or leave ${name}_type out`,
      });
    }
    checkType(`${name}_type`, type);
  }
  if (request.requested_token_type !== undefined) checkType("requested_token_type", request.requested_token_type);
}

function checkType(name: string, type: string | undefined): void {
  if (type === accessTokenType || type === jwtType) return;
  const given = type === undefined ? "is missing" : `"${type}" is not supported`;
  throw new OAuthError("invalid_request", `${name} ${given}; send "${accessTokenType}"`, {
    rule: "RFC 8693 3",
    parameter: name,
    fix: null,
  });
}

type TokenName = "subject_token" | "actor_token";

/** RFC 8693 2.2.2: whatever is wrong with one of the tokens, the error is the same. */
const refuse = (name: TokenName, reason: string, fix: string | Hint, cause?: unknown): OAuthError =>
  new OAuthError("invalid_request", `${name} is not accepted: ${reason}`, {
    rule: "RFC 8693 2.2.2",
    parameter: name,
    fix,
    cause: typeof cause === "string" ? `${name} is not accepted: ${cause}` : cause,
  });

async function readToken(
  ctx: Context,
  name: TokenName,
  token: string | undefined,
  jkt: string | null,
): Promise<TokenClaims> {
  const claims = verifyAccessToken(ctx, await jwtOf(ctx, token ?? ""));
  if (claims instanceof TokenProblem) throw refuse(name, claims.message, claims.fix, claims);
  // Otherwise an exchange would turn it into a bearer token, which anybody can use.
  if (claims.cnf !== undefined && jkt === null) {
    throw refuse(
      name,
      "it is bound to a key: send a DPoP proof, so that the new token is bound to yours (RFC 9449 5)",
      "send a DPoP header with the request",
    );
  }
  return claims;
}

function requireAlive(tx: ReadTx, name: TokenName, claims: TokenClaims): LiveToken {
  const state = tokenState(tx, claims);
  if (isDead(state)) throw refuse(name, state.message, state.fix, state.detail);
  return state;
}

/** RFC 8693 4.1: the actor now, and within it those before. A token that somebody acted with already keeps saying so. */
function actorOf(subject: TokenClaims, actor: TokenClaims | null): Actor | null {
  if (actor === null) return subject.act ?? null;
  return { sub: actor.sub, ...(subject.act !== undefined && { act: subject.act }) };
}

function originOf({ jti, client_id, grant, epoch, client_epoch, era }: TokenClaims): Origin {
  const ofClient = grant === undefined ? epoch : client_epoch;
  return { jti, client_id, ...(ofClient !== undefined && { epoch: ofClient }), era };
}

/** The scopes that the subject's token still has and that this client may ask for; the parameter `scope` may narrow them. */
function narrowScopes(
  tx: ReadTx,
  ctx: Context,
  client: Client,
  subject: LiveToken,
  held: string | undefined,
  scope: string | undefined,
): readonly string[] {
  const granted = scopesNow(tx, ctx, subject, held);
  const asked = narrowScope(granted, scope, "the subject token's", {
    why: "an exchange cannot add scopes",
    rule: "RFC 8693 2.2.2",
  });
  if (asked !== granted) {
    const foreign = asked.filter((name) => !mayStillAsk(tx, ctx, client, name));
    if (foreign.length > 0) throw foreignScopes(client, foreign);
    return asked;
  }
  const scopes = granted.filter((name) => mayStillAsk(tx, ctx, client, name));
  if (scopes.length === 0 && granted.length > 0) {
    throw new OAuthError(
      "invalid_scope",
      `the subject token's scope "${granted.join(" ")}" has no scope in common with the registered scope "${client.scope ?? ""}" of client "${client.client_id}"`,
      {
        rule: "RFC 8693 2.2.2",
        fix: `add the scopes that it needs (${granted.join(" ")}) to the scope of client ${client.client_id}`,
      },
    );
  }
  return scopes;
}

/** `audience`: a client of this server by its id, or an API by its URI. @throws {OAuthError} invalid_target */
function checkAudience(tx: ReadTx, sent: readonly string[]): readonly string[] {
  const values = sent.filter((value) => value !== "");
  for (const value of values) {
    if (tx.get("clients", value) === undefined && !isAbsoluteUri(value)) {
      throw new OAuthError(
        "invalid_target",
        `audience "${value}" is neither a client_id registered here nor an absolute URI`,
        {
          rule: "RFC 8693 2.1",
          parameter: "audience",
          fix: { text: "To see the clients", command: ["idp", "clients", "list"] },
        },
      );
    }
  }
  return values;
}
