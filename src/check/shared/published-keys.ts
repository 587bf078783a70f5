/*
 * check/shared: what two of the checks need. The frame knows nothing of it.
 */
import { readSource, type FixtureSource } from "../../core/base/fixture-files/source.ts";
import { jsonOf, send } from "../../client/http.ts";
import { isObject } from "../../text/json.ts";

/** APIs that verify access tokens with the published keys of the issuer. */

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
