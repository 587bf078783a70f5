import type { JsonObject } from "../text/json.ts";
import { Problem, shown } from "./check.ts";
import { send, successOf, type Reply } from "./http.ts";
import { isLoopbackUrl } from "../net/address.ts";

/** What a provider says about itself (OpenID Connect Discovery 4, RFC 8414 3). */

export interface Provider {
  readonly issuer: string;
  /** Addresses by their names in the metadata: `token_endpoint`, `jwks_uri`. */
  readonly endpoints: Readonly<Record<string, string>>;
  readonly requiresPar: boolean;
  /** RFC 9207 3: every authorization response has `iss`. */
  readonly sendsIss: boolean;
  /** How clients may authenticate at the token endpoint. */
  readonly authMethods: readonly string[];
  readonly idTokenAlgs: readonly string[];
  readonly userinfoAlgs: readonly string[];
}

const endpointNames = [
  "authorization_endpoint",
  "token_endpoint",
  "userinfo_endpoint",
  "jwks_uri",
  "pushed_authorization_request_endpoint",
  "device_authorization_endpoint",
];

/** The two places of metadata: appended to the issuer, and inserted before its path. */
export function metadataAddresses(issuer: string): readonly [string, string] {
  const { origin, pathname } = new URL(issuer);
  return [
    `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${pathname.replace(/\/$/, "")}`,
  ];
}

/**
 * Finds the provider of an issuer.
 * @throws {Problem} if there is no metadata, if it names another issuer, or if its addresses cannot be used
 */
export async function discover(issuer: string): Promise<Provider> {
  const [first, second] = metadataAddresses(issuer);
  const openid = await send({ method: "GET", url: first });
  const reply = openid.status === 404 ? await send({ method: "GET", url: second }) : openid;
  if (openid.status === 404 && reply.status === 404) {
    throw new Problem(`there is no metadata: ${first} and ${second} answer 404`);
  }
  return providerOf(issuer, reply);
}

function providerOf(issuer: string, reply: Reply): Provider {
  const metadata = successOf(reply);
  if (metadata["issuer"] !== issuer) {
    throw new Problem(
      `the metadata names issuer ${shown(metadata["issuer"])}; it must be exactly ${shown(issuer)} (RFC 8414 3.3)`,
    );
  }
  return {
    issuer,
    endpoints: Object.fromEntries(
      endpointNames.flatMap((name) =>
        metadata[name] === undefined ? [] : [[name, endpointOf(issuer, metadata, name)]],
      ),
    ),
    requiresPar: metadata["require_pushed_authorization_requests"] === true,
    sendsIss: metadata["authorization_response_iss_parameter_supported"] === true,
    authMethods: textsIn(metadata, "token_endpoint_auth_methods_supported", ["client_secret_basic"]),
    idTokenAlgs: textsIn(metadata, "id_token_signing_alg_values_supported", ["RS256"]),
    userinfoAlgs: textsIn(metadata, "userinfo_signing_alg_values_supported", ["RS256"]),
  };
}

function textsIn(metadata: JsonObject, name: string, otherwise: readonly string[]): readonly string[] {
  const value = metadata[name];
  if (value === undefined) return otherwise;
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value;
  throw new Problem(`${name} in the metadata is not a list of strings: ${shown(value)}`);
}

/** An address that may be called, or opened in a browser: only http and https. */
function endpointOf(issuer: string, metadata: JsonObject, name: string): string {
  const value = metadata[name];
  if (typeof value !== "string" || !/^https?:\/\//i.test(value) || !URL.canParse(value)) {
    throw new Problem(`${name} in the metadata is not an address: ${shown(value)}`);
  }
  if (/^https:/i.test(issuer) && !/^https:/i.test(value) && !isLoopbackUrl(value)) {
    throw new Problem(`${name} in the metadata is http, while the issuer is https: ${shown(value)}`);
  }
  return value;
}

/** An address that the flow requires. @throws {Problem} */
export function requireEndpoint({ endpoints }: Provider, name: string): string {
  const address = endpoints[name];
  if (address === undefined) throw new Problem(`the metadata names no ${name}`);
  return address;
}
