import type { Request, RequestHandler } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import type { ClientCredentials } from "../../core/records/clients/client-credentials.ts";
import type { PresentedToken } from "../../core/protocol/tokens/dpop-binding.ts";
import { OAuthError } from "../../core/base/errors.ts";
import { listClients } from "../../core/records/fix-commands.ts";
import { readJws } from "../../core/records/keys/jws.ts";
import { addressOf, peerOf } from "./cookies.ts";
import { backchannelOf } from "./host-check.ts";
import { bodyParameters, single } from "./params.ts";
import type { Web } from "../web.ts";
import { type Proof, nextNonce } from "../../core/protocol/tokens/dpop.ts";
import { baseOf, type EndpointName } from "../../core/base/endpoints.ts";

/** RFC 6749 2.3.1: both values are form-encoded before they are joined. */
function formDecode(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    throw new OAuthError(
      "invalid_client",
      'the Authorization: Basic header is not form-encoded: send a "%" of id or secret as %25, or use client_secret_post',
      { rule: "RFC 6749 2.3.1", fix: null },
    );
  }
}

function readBasic(header: string): NonNullable<ClientCredentials["basic"]> {
  const decoded = Buffer.from(header.slice("basic".length).trim(), "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  // Without a colon the secret is empty, as okta-auth-js sends it for a public client. Any other client needs one.
  const [id, secret] = colon < 0 ? [decoded, ""] : [decoded.slice(0, colon), decoded.slice(colon + 1)];
  if (id === "") {
    throw new OAuthError("invalid_client", "the Authorization: Basic header must contain client_id:client_secret", {
      rule: "RFC 6749 2.3.1",
      fix: listClients,
    });
  }
  return { id: formDecode(id), secret: formDecode(secret), raw: secret };
}

/** Whether the client used Basic: then a refusal has to say so (RFC 6749 5.2). */
export const isBasic = (req: Request): boolean => /^basic(?: |$)/i.test(req.headers.authorization ?? "");

/** The client that a Basic header names; null without one that can be read. */
export function basicId(req: Request): string | null {
  try {
    return isBasic(req) ? readBasic(req.headers.authorization ?? "").id : null;
  } catch {
    return null;
  }
}

/**
 * The clients that a request names, each once, by its credentials or its access token. Nothing is proven; "" stands for one that cannot be read.
 * @throws {OAuthError} invalid_request if a JSON body is not an object
 */
export function namedClients(req: Request): ReadonlySet<string> {
  const { client_id: ids = [], client_assertion: assertions = [], access_token: tokens = [] } = bodyParameters(req);
  const [, bearer] = /^(?:bearer|dpop) +(\S+) *$/i.exec(req.headers.authorization ?? "") ?? [];
  const named = (claim: string) => (jws: string) => readJws(jws)?.payload[claim];
  const all = [
    ...[ids].flat(),
    ...[assertions].flat().map(named("sub")),
    ...[tokens, bearer ?? []].flat().map(named("client_id")),
    ...(isBasic(req) ? [basicId(req)] : []),
  ];
  return new Set(all.map((id) => (typeof id === "string" ? id : "")));
}

/** The source of guesses. Pages send Origin (Fetch 3.1): they share one allowance, separate from that of the apps on the machine. */
const sourceOf = (web: Web, req: Request): string =>
  addressOf(web, req) + (req.headers.origin === undefined ? "" : " page");

/** The credentials of a client. @throws {OAuthError} invalid_client, invalid_request */
export const clientCredentials = (web: Web, req: Request, body: RawParameters): ClientCredentials => ({
  basic: isBasic(req) ? readBasic(req.headers.authorization ?? "") : null,
  id: single(body, "client_id"),
  secret: single(body, "client_secret"),
  assertion: single(body, "client_assertion"),
  assertionType: single(body, "client_assertion_type"),
  address: sourceOf(web, req),
  base: backchannelOf(web, req),
  peer: peerOf(web, req),
});

/**
 * The access token of a request (RFC 6750 2, RFC 9449 7.1), from the header or a form body.
 * @throws {OAuthError} invalid_request for two tokens, and for one in the query, where it would end up in logs
 */
export function accessToken(
  req: Request,
  query: RawParameters,
  body: RawParameters,
): Pick<PresentedToken, "token" | "scheme"> | undefined {
  const { authorization = "" } = req.headers;
  const [, scheme, header] = /^(bearer|dpop) +(\S+) *$/i.exec(authorization) ?? [];
  const inBody = req.is("application/x-www-form-urlencoded") === false ? undefined : single(body, "access_token");
  if (Object.hasOwn(query, "access_token")) {
    throw new OAuthError(
      "invalid_request",
      "access_token is not accepted in the query, where logs would keep it: send Authorization: Bearer",
      { rule: "RFC 6750 2.3", parameter: "access_token", fix: null },
    );
  }
  // The value is not an access token: 401, as the service documents for any invalid token, not the 400 of RFC 6750.
  if (header === undefined && /^(?:bearer|dpop) +\S/i.test(authorization)) {
    throw new OAuthError(
      "invalid_token",
      "the Authorization header is malformed: send Bearer, one space and the access token alone",
      { rule: "RFC 6750 2.1", fix: null },
    );
  }
  if (/^(?:bearer|dpop)(?: |$)/i.test(authorization) && inBody !== undefined) {
    throw new OAuthError(
      "invalid_request",
      "two access tokens at once: send one, in the Authorization header or in the body",
      { rule: "RFC 6750 2", fix: null },
    );
  }
  const token = header ?? inBody;
  if (token === undefined) return undefined;
  return { token, scheme: scheme?.toLowerCase() === "dpop" ? "DPoP" : "Bearer" };
}

/**
 * The DPoP proof of a request (RFC 9449 4.1); null without one.
 * @param endpoint a proof names its address from discovery, even if the request line differs
 */
export function proofOf(web: Web, req: Request, endpoint: EndpointName): Proof | null {
  const jwt = req.headers["dpop"];
  if (jwt === undefined) return null;
  const { address, layout } = web.ctx;
  const base = backchannelOf(web, req) ?? baseOf(address);
  return { jwt: String(jwt), method: req.method, url: base + layout.paths[endpoint] };
}

/** Gives the client the nonce of its next proof, with errors too (RFC 9449 8.2). */
export const withNonce =
  ({ ctx }: Web): RequestHandler =>
  (_req, res, next) => {
    const nonce = nextNonce(ctx);
    if (nonce !== null) res.set("DPoP-Nonce", nonce);
    next();
  };
