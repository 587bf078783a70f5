import { singleFactor } from "../../../records/step-up/proofs.ts";
import type { Client, Grant, Tx, User } from "../../../../store/store.ts";
import { assertionAlgorithms } from "../../../records/clients/clients.ts";
import type { Context } from "../../../context.ts";
import { useOnce } from "../../../base/era.ts";
import { OAuthError, type Guidance } from "../../../base/errors.ts";
import { addScopes, trustIssuer } from "../../../records/fix-commands.ts";
import { findGrant, recordGrant } from "../../../sign-in/grants/grants.ts";
import { expired, JwtProblem, problemOf, quoted, timeProblem, type Jws } from "../../../records/keys/jws.ts";
import { tokenTypes } from "../../../records/keys/signer.ts";
import { checkResources } from "../../../records/scopes/resources.ts";
import { isDefined, mayAsk, splitScope } from "../../../records/scopes/scopes.ts";
import { hashOf } from "../../../base/secrets.ts";
import { seconds } from "../../../../text/time.ts";
import { planTokens } from "../plan.ts";
import { settleAccessToken, type TokenResult } from "../settle.ts";
import { consentAgain, endOf, fixOf, userRefusal } from "../state.ts";

/**
 * Cross-app access, as the authorization server of a resource: an ID-JAG of a trusted issuer gives an access token of its user
 * (draft-ietf-oauth-identity-assertion-authz-grant-04 4.4).
 */

/** Seconds from `iat` to `exp`, at most. */
const maxLife = 3600;

/** Seconds that the clock of the issuer may be ahead. */
const clockSkew = 10;

export const refuseAssertion = (reason: string, guidance: Guidance, cause?: unknown): OAuthError =>
  new OAuthError("invalid_grant", `assertion is not accepted: ${reason}`, {
    parameter: "assertion",
    ...guidance,
    cause,
  });

const getNew = "ask its issuer for a new ID-JAG for each request";

const malformed = (message: string): JwtProblem =>
  new JwtProblem(message, { rule: "ID-JAG 4.4", fix: "have its issuer leave that out, or write it as the draft says" });

/** Whether the header says that this is an ID-JAG (RFC 7515 4.1.9: `application/` may be left out). */
export const isIdJag = ({ typ }: Readonly<Record<string, unknown>>): boolean =>
  typeof typ === "string" && typ.toLowerCase().replace(/^application\//, "") === tokenTypes.idJag;

type Trusted = NonNullable<Awaited<ReturnType<Context["trusted"]["find"]>>>;

/** An assertion, and what it says before it is verified. */
interface Assertion {
  readonly assertion: string;
  readonly jws: Jws;
}

/** What an ID-JAG says that was verified. */
interface IdJag {
  readonly iss: string;
  readonly sub: string;
  readonly jti: string;
  /** Seconds since 1970. */
  readonly exp: number;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** A verified address; null: none. */
  readonly email: string | null;
}

/** @throws {OAuthError} invalid_grant, invalid_scope, invalid_target */
export async function acceptIdJag(
  ctx: Context,
  authenticated: Client,
  request: Assertion & { readonly scope: string | undefined; readonly resource: readonly string[] },
  jkt: string | null,
): Promise<TokenResult> {
  const { iss } = request.jws.payload;
  const trusted = await ctx.trusted.find(iss, "id-jag");
  if (trusted === null) {
    const isOwn = iss === ctx.issuer ? ": an issuer of the same records is never trusted" : "";
    throw refuseAssertion(
      `its issuer is ${quoted(iss)}, which setting trusted_issuers does not accept for id-jag${isOwn}`,
      { rule: "RFC 7523 3", fix: trustIssuer("the issuer") },
    );
  }
  const idJag = await verifyIdJag(ctx, authenticated, trusted, request).catch((error: unknown) => {
    const { message, guidance } = problemOf(ctx, error);
    throw refuseAssertion(message, guidance, error);
  });
  const resources = narrow(ctx, idJag.resources, request.resource);
  return settleAccessToken(ctx, authenticated, (tx, client) => {
    useAssertion(tx, ctx, idJag);
    const user = findUser(tx, trusted, idJag);
    const scopes = scopesOf(tx, ctx, client, idJag, request.scope);
    const grant = grantOf(tx, ctx, user, client, idJag, scopes);
    // The user signed in elsewhere, so the token says nothing of how.
    const authentication = { acr: singleFactor, authTime: seconds(ctx), amr: [], sid: null };
    const asked = { scopes, resources, refreshResources: [], jkt };
    const { subject } = planTokens(tx, ctx, client, { user, grant, authentication }, asked);
    return { subject, authentication: null };
  });
}

/**
 * Every check of the assertion alone.
 * @throws {JwtProblem} and the errors of jose, which {@link problemOf} reads
 */
async function verifyIdJag(
  ctx: Context,
  client: Client,
  trusted: Trusted,
  { assertion, jws }: Assertion,
): Promise<IdJag> {
  const { createLocalJWKSet, jwtVerify } = await import("jose");
  const { keys } = await trusted.keys(jws.header["kid"]);
  const { payload } = await jwtVerify(assertion, createLocalJWKSet({ keys: [...keys] }), {
    algorithms: [...assertionAlgorithms.private_key_jwt],
    typ: tokenTypes.idJag,
    issuer: String(jws.payload["iss"]),
    requiredClaims: ["iss", "sub", "aud", "client_id", "jti", "iat", "exp"],
    currentDate: new Date(ctx.now()),
    clockTolerance: clockSkew,
  });
  const { iss, sub, aud, client_id: clientId, jti, iat, exp, scope = "", resource = [], email } = payload;
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  if (!isText(iss) || !isText(sub) || !isText(jti) || iat === undefined || exp === undefined)
    throw malformed('"sub" and "jti" must be texts');
  const [audience, ...others] = [aud].flat();
  // A second audience could be one that passes the assertion on (RFC 7523 3).
  if (audience !== ctx.issuer || others.length > 0)
    throw new JwtProblem(`it is for ${JSON.stringify(aud)}, not for ${ctx.issuer} alone`, {
      rule: "RFC 7523 3",
      fix: `ask its issuer for an ID-JAG with audience=${ctx.issuer}`,
    });
  if (clientId !== client.client_id)
    throw new JwtProblem(`its client_id is ${JSON.stringify(clientId)}, not "${client.client_id}"`, {
      rule: "ID-JAG 4.4",
      fix: "send it as the client that it names: its issuer knows that by client_id of id_jag_audiences",
    });
  if (exp * 1000 <= ctx.now()) throw expired(ctx, exp);
  if (iat * 1000 > ctx.now() + clockSkew * 1000)
    throw timeProblem(ctx, 'it was issued in the future ("iat")', "RFC 7523 3");
  if (exp - iat > maxLife) throw timeProblem(ctx, `it lives for more than ${maxLife} s ("iat", "exp")`, "RFC 7523 3");
  for (const name of ["cnf", "authorization_details"]) {
    if (Object.hasOwn(payload, name)) throw malformed(`it has "${name}", which is not supported here`);
  }
  if (typeof scope !== "string") throw malformed('"scope" must be a text');
  const targets = [resource].flat();
  if (!targets.every(isText)) throw malformed('"resource" must be a URI, or a list of them');
  return {
    ...{ iss, sub, jti, exp, scopes: splitScope(scope), resources: checkResources(ctx, targets) },
    email: payload["email_verified"] === true && isText(email) ? email : null,
  };
}

/** The targets of the token: those of the assertion, or fewer. @throws {OAuthError} invalid_target */
function narrow(ctx: Context, held: readonly string[], sent: readonly string[]): readonly string[] {
  const asked = checkResources(ctx, sent);
  const foreign = asked.filter((value) => !held.includes(value));
  if (foreign.length === 0) return asked.length === 0 ? held : asked;
  const known = held.length === 0 ? "it names none" : `it names ${held.join(" ")}`;
  throw new OAuthError("invalid_target", `resource "${foreign.join(" ")}" is not one of the assertion: ${known}`, {
    rule: "RFC 8707 2.2",
    parameter: "resource",
    fix: "name the resource when asking for the ID-JAG, or leave it out here",
  });
}

/** Remembers the `jti` until the assertion expires (RFC 7523 3). The draft lets clients submit one again, which a setting allows. */
function useAssertion(tx: Tx, ctx: Context, { iss, jti, exp }: IdJag): void {
  if (ctx.settings.id_jag_reuse === "on") return;
  const id = hashOf(JSON.stringify(["id-jag", iss, jti]));
  const problem = useOnce(tx, "usedAssertions", id, exp * 1000);
  if (problem === "maybe used")
    throw refuseAssertion("it was made before the clock was set back", { rule: "RFC 7523 3", fix: getNew });
  if (problem === "used")
    throw refuseAssertion('its "jti" was used before; get a new one, or set id_jag_reuse to on', {
      rule: "RFC 7523 3",
      fix: `${getNew}, or set id_jag_reuse: on in a fixture file`,
    });
}

/** The user whom a fixture links to the subject, or the only one with the verified address. @throws {OAuthError} invalid_grant */
function findUser(tx: Tx, { entry }: Trusted, { iss, sub, email }: IdJag): User {
  const names = new Set([entry?.issuer ?? iss, iss]);
  const linked = [...names].flatMap((name) => tx.findAll("users", "federated", `${name} ${sub}`));
  const [user, other] = linked.length > 0 || entry?.match !== "email" ? linked : byEmail(tx, names, email);
  if (user === undefined || other !== undefined) {
    const how = entry?.match === "email" ? ", and no single active user has its verified e-mail address" : "";
    throw refuseAssertion(`no single user has federated: [{ issuer: ${entry?.issuer ?? iss}, sub: ${sub} }]${how}`, {
      rule: "ID-JAG 4.4",
      fix: "give one user of a fixture file that entry of federated",
    });
  }
  const refusal = userRefusal(user);
  if (refusal !== null)
    throw new OAuthError("invalid_grant", refusal.message, { rule: "RFC 6749 5.2", ...fixOf(refusal) });
  return user;
}

/** A user who is linked to another subject of this issuer is not this one. */
function byEmail(tx: Tx, names: ReadonlySet<string>, email: string | null): readonly User[] {
  if (email === null) return [];
  const found = tx
    .findAll("users", "email", email.toLowerCase())
    .filter(({ status, emailVerified }) => status === "active" && emailVerified);
  const isFree = ({ federated = [] }: User): boolean => !federated.some(({ issuer }) => names.has(issuer));
  // Letters that only look equal in lower case are not equal.
  return found.every((user) => user.email === email && isFree(user)) ? found : [];
}

/** What the assertion, the client and the request all name. @throws {OAuthError} invalid_scope */
function scopesOf(
  tx: Tx,
  ctx: Context,
  client: Client,
  { scopes: named }: IdJag,
  requested: string | undefined,
): readonly string[] {
  const asked = splitScope(requested ?? "");
  const wanted = asked.length === 0 ? named : asked;
  const scopes = wanted.filter((name) => named.includes(name) && isDefined(tx, ctx, name) && mayAsk(client, name));
  if (scopes.length > 0 || wanted.length === 0) return scopes;
  throw new OAuthError(
    "invalid_scope",
    `no scope in "${wanted.join(" ")}" is named by the assertion ("${named.join(" ")}"), defined here, and in the scope of client "${client.client_id}"`,
    { rule: "RFC 6749 3.3", parameter: "scope", fix: addScopes(client, wanted) },
  );
}

/** The issuer grants in place of the user, unless the user has revoked the client. @throws {OAuthError} invalid_grant */
function grantOf(tx: Tx, ctx: Context, user: User, client: Client, { iss }: IdJag, scopes: readonly string[]): Grant {
  const before = findGrant(tx, user.id, client.client_id);
  if (before?.status === "revoked") {
    throw new OAuthError(
      "invalid_grant",
      `Access revoked by user: the user has to consent to client "${client.client_id}" again at the authorization endpoint`,
      {
        rule: "RFC 6749 5.2",
        fix: consentAgain,
        about: { user: user.username, client: client.client_id },
        cause: `the grant was revoked${endOf(before)}: the user has to consent to client "${client.client_id}" again`,
      },
    );
  }
  return recordGrant(tx, ctx, { user, client, asked: scopes, allowed: scopes, by: "issuer", issuer: iss });
}
