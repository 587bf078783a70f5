/*
 * check/shared: what two of the checks need. The frame knows nothing of it.
 */
import { importJWK, SignJWT, type JWK } from "jose";
import { readSource, type FixtureSource } from "../../core/base/fixture-files/source.ts";
import { OperationError } from "../../core/base/errors.ts";
import { Problem } from "../../client/check.ts";
import { jsonOf, send } from "../../client/http.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import { isObject, type JsonObject } from "../../text/json.ts";

/** Tokens of the issuer: what is in one, which keys verify it, and one that its own key signs. */

/** Whether a token says something to its reader. Those of some vendors are opaque. */
export const isJwt = (token: string): boolean => /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(token);

/** @throws {Problem} for an opaque token, of which nothing can be bent */
export function requireJwt(token: string): void {
  if (!isJwt(token)) throw new Problem("the access tokens of this issuer are opaque, and this case needs a JWT");
}

function decoded(token: string, part: 0 | 1): JsonObject {
  requireJwt(token);
  return JSON.parse(Buffer.from(token.split(".")[part] ?? "", "base64url").toString("utf8")) as JsonObject;
}

export const headerOf = (token: string): JsonObject => decoded(token, 0);
export const claimsOf = (token: string): JsonObject => decoded(token, 1);

/** Most APIs verify tokens with the published keys, so tokens are RS256 unless the fixtures say otherwise. */
export async function withPublishedKeys(sources: readonly FixtureSource[]): Promise<FixtureSource[]> {
  const documents = await Promise.all(sources.map(readSource));
  const saysAlg = documents.some(
    ({ value }) => isObject(value) && isObject(value["settings"]) && "access_token_alg" in value["settings"],
  );
  return saysAlg ? [...sources] : [{ value: { settings: { access_token_alg: "RS256" } } }, ...sources];
}

/** The address of the published keys; empty with the endpoints of GitHub, which has none. */
export async function jwksUriOf(issuer: string): Promise<string> {
  const reply = await send({ method: "GET", url: `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration` });
  return reply.status === 404 ? "" : String(jsonOf(reply)["jwks_uri"]);
}

/** Of an export, which has the key that signs. */
interface Key {
  readonly kid: string;
  readonly alg: string;
  readonly jwk: JWK;
  readonly retiredAt: string | null;
}

/** A token that the issuer's own key signs. @throws {OperationError} refused if there is none */
export async function signedBy(
  server: Server,
  alg: string,
  typ: string,
  payload: Readonly<Record<string, unknown>>,
): Promise<string> {
  const { keys = [] } = (await callServer(server, "export", {})) as { readonly keys?: readonly Key[] };
  const key = keys.find((one) => one.alg === alg && one.retiredAt === null);
  if (key === undefined) throw new OperationError("refused", `tokens signed with ${alg} cannot be made here`);
  const header = { alg, typ, kid: key.kid };
  return new SignJWT({ ...payload }).setProtectedHeader(header).sign(await importJWK(key.jwk, alg));
}
