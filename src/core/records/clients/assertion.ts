import { createSecretKey, type KeyObject } from "node:crypto";
import type { JSONWebKeySet, JWTPayload, JWTVerifyGetKey } from "jose";
import type { Client } from "../../../store/store.ts";
import { assertionAlgorithms } from "./clients.ts";
import type { Context } from "../../context.ts";
import type { ClientCredentials } from "./client-credentials.ts";
import { baseOf, type EndpointName } from "../../base/endpoints.ts";
import { useOnce } from "../../base/era.ts";
import { OAuthError, type Guidance } from "../../base/errors.ts";
import { expired, problemOf, timeProblem, readJws, type JwtProblem } from "../keys/jws.ts";
import { reachOf } from "../../base/outbound.ts";
import { hashOf } from "../../base/secrets.ts";

/** Client authentication by a signed assertion (RFC 7523; OpenID Connect Core 9): `client_secret_jwt` and `private_key_jwt`. */

export const assertionType = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

type AssertionMethod = keyof typeof assertionAlgorithms;

/** Seconds: an assertion is made for one request, and its `jti` has to be remembered for as long as it lives. */
const maxLife = 3600;

/** Seconds that the clock of a client may be ahead: what it makes now is not "not valid yet" (RFC 7523 3). */
const clockSkew = 10;

/** @param guidance RFC 7523 3 is the rule unless another one is more exact */
const refuse = (reason: string, guidance: Pick<Guidance, "fix"> & Partial<Guidance>, cause?: unknown): OAuthError =>
  new OAuthError("invalid_client", `client_assertion is not accepted: ${reason}`, {
    rule: "RFC 7523 3",
    parameter: "client_assertion",
    ...guidance,
    cause,
  });

const makeNew = { fix: "make a new assertion for each request" };

const refuseFor = ({ message, guidance, cause }: JwtProblem): OAuthError => refuse(message, guidance, cause);

/**
 * The client that an assertion names; this proves nothing.
 * @throws {OAuthError} invalid_client
 */
export function assertedClientId(assertion: string): string {
  const jws = readJws(assertion);
  if (jws === null)
    throw refuse("it is not a signed JWT, or one with an extension that is not known here", {
      rule: "RFC 7515 4.1.11",
      fix: "send a JWT that the client signed",
    });
  const { sub } = jws.payload;
  if (typeof sub === "string") return sub;
  throw refuse('it has no "sub" claim', { fix: "set iss and sub to the client_id" });
}

/** The client's own metadata decides the kind of key: an algorithm never does (RFC 8725 3.1). */
async function keyOf(ctx: Context, client: Client, method: AssertionMethod): Promise<KeyObject | JWTVerifyGetKey> {
  if (method === "client_secret_jwt") return createSecretKey(client.client_secret ?? "", "utf8");
  const { jwks_uri: uri } = client;
  // Fetched each time, so that keys that were taken away are not accepted; but see `verifyAssertion`.
  const jwks =
    client.jwks ?? (uri === undefined ? undefined : await ctx.fetchedKeys.read(uri, reachOf(ctx, client), () => false));
  if (jwks === undefined)
    throw refuse(`client "${client.client_id}" has neither jwks nor jwks_uri`, {
      rule: "RFC 7591 2",
      fix: "give the client jwks or jwks_uri, with its public key",
    });
  const { createLocalJWKSet } = await import("jose");
  try {
    return createLocalJWKSet(jwks as JSONWebKeySet);
  } catch (error) {
    throw refuse(
      `the keys of client "${client.client_id}" are not a JWK Set`,
      {
        rule: "RFC 7517 5",
        fix: 'give the client a key set such as {"keys":[…]}',
      },
      error,
    );
  }
}

interface Claimed {
  readonly client: Client;
  readonly version: number | undefined;
}

/**
 * Proves a client by its assertion, which passes once (RFC 7523 3).
 * @throws {OAuthError} invalid_client with the rule that failed
 */
export async function verifyAssertion(
  ctx: Context,
  claimed: Claimed,
  method: AssertionMethod,
  credentials: Pick<ClientCredentials, "assertion" | "base" | "isPushed">,
): Promise<void> {
  const { jwks_uri: uri } = claimed.client;
  let didHelp = false;
  try {
    await verify(ctx, claimed, method, credentials);
    didHelp = true;
  } finally {
    if (uri !== undefined) ctx.fetchedKeys.tried(uri, reachOf(ctx, claimed.client), didHelp);
  }
}

async function verify(
  ctx: Context,
  { client, version }: Claimed,
  method: AssertionMethod,
  { assertion = "", base: asked, isPushed = false }: Pick<ClientCredentials, "assertion" | "base" | "isPushed">,
): Promise<void> {
  const bases = [baseOf(ctx.address), ...(asked === null ? [] : [asked])];
  const addressees: readonly EndpointName[] = isPushed ? ["token", "par"] : ["token"];
  const key = await keyOf(ctx, client, method);
  const { jwtVerify } = await import("jose");
  let claims: { readonly jti?: string; readonly exp?: number };
  try {
    const options = {
      // OpenID Connect Registration 2: a client that registered one may use that one only.
      algorithms: assertionAlgorithms[method].filter((alg) => alg === (client.token_endpoint_auth_signing_alg ?? alg)),
      issuer: client.client_id,
      subject: client.client_id,
      // RFC 7523 3: the issuer or the token endpoint; RFC 9126 2: at PAR also its own address. Each by the name that discovery gave it.
      audience: [ctx.issuer, ...bases.flatMap((base) => addressees.map((name) => base + ctx.layout.paths[name]))],
      requiredClaims: ["exp", "jti"],
      currentDate: new Date(ctx.now()),
      clockTolerance: clockSkew,
    };
    claims = (
      typeof key === "function" ? await jwtVerify(assertion, key, options) : await jwtVerify(assertion, key, options)
    ).payload;
  } catch (error) {
    const { claim, payload } = Object(error) as { readonly claim?: unknown; readonly payload?: JWTPayload };
    if (claim === "aud" && payload?.aud !== undefined) {
      throw refuse(
        `it is for ${JSON.stringify(payload.aud)}; this is ${ctx.issuer}`,
        { fix: `set aud to ${ctx.issuer}` },
        error,
      );
    }
    if (claim === "iss" || claim === "sub") {
      throw refuse((error as Error).message, { fix: `set iss and sub to "${client.client_id}"` }, error);
    }
    throw refuseFor(problemOf(ctx, error));
  }
  const { jti = "", exp = 0 } = claims;
  // Its jti is remembered until exp, so the clock tolerance does not apply here.
  if (exp * 1000 <= ctx.now()) throw refuseFor(expired(ctx, exp));
  if (exp * 1000 - ctx.now() > maxLife * 1000) {
    throw refuseFor(timeProblem(ctx, `it lives for more than ${maxLife} s`, "RFC 7523 3"));
  }
  const id = hashOf(JSON.stringify([client.client_id, jti]));
  const problem = await ctx.store.transaction((tx) => {
    // Fetching its keys may take long: the client may have been changed in the meantime. A document counts as it was read.
    if (client.fromDocument !== true && tx.version("clients", client.client_id) !== version) {
      throw refuse(`client "${client.client_id}" was changed while it was checked; try again`, makeNew);
    }
    return useOnce(tx, "usedAssertions", id, exp * 1000);
  });
  if (problem === "maybe used") throw refuse("it was made before the clock was set back", makeNew);
  if (problem === "used")
    throw refuse('its "jti" was used before; make a new assertion for each request', { fix: null });
}
