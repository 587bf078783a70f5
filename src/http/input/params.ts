/*
 * http/input: everything that is read from a request, once: parameters, bodies, credentials, cookies, and the checks of Host and Origin.
 */
import { parse } from "node:querystring";
import type { Request } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { OAuthError } from "../../core/base/errors.ts";
import { isObject } from "../../text/json.ts";

/** A request of a page of a sign-in, which its path names. */
export type UidRequest = Request<{ uid: string }>;

/** The parameters of the query. One that was sent twice is a list. */
export function queryParameters(req: Request): RawParameters {
  const at = req.url.indexOf("?");
  // Without a limit, so that no repeated parameter is missed. Node limits the request line to 16 kB.
  return at < 0 ? {} : parse(req.url.slice(at + 1), "&", "=", { maxKeys: 0 });
}

/**
 * The same for a request of a client: `state` has to be returned unchanged, so bytes that are not UTF-8 are refused. Not for pages: the page
 * that shows this error reads the query too.
 * @throws {OAuthError} invalid_request
 */
export function clientQuery(req: Request): RawParameters {
  const parameters = queryParameters(req);
  if (isUtf8Encoded(req.url)) return parameters;
  const isOther = (name: string): boolean => [parameters[name] ?? []].flat().some((value) => value.includes("\ufffd"));
  const name = Object.keys(parameters).find(isOther) ?? "the name of a parameter";
  throw new OAuthError("invalid_request", `${name} is not UTF-8: percent-encode it as such`, {
    rule: "RFC 6749 B",
    fix: null,
  });
}

const isText = (value: unknown): boolean => typeof value === "string";

/** Stands for a JSON value that is neither text nor a list of at least one text. */
const notText: readonly string[] = [];

function textsOf(value: unknown): string | readonly string[] | undefined {
  if (value === null || isText(value)) return (value as string | null) ?? undefined;
  return Array.isArray(value) && value.length > 0 && value.every(isText) ? (value as string[]) : notText;
}

/**
 * The parameters of a body. A repeated one is a list, and so is a JSON list of texts; null counts as not sent. A value of another kind is
 * refused when it is read, because unknown names are ignored (RFC 6749 3.2).
 * @throws {OAuthError} invalid_request if a JSON body is not an object
 */
export function bodyParameters(req: Request): RawParameters {
  const body: unknown = req.body;
  if (body === undefined) return {};
  if (!isObject(body))
    throw new OAuthError("invalid_request", "the JSON body must be an object", {
      // RFC 6749 has forms only.
      rule: null,
      fix: "send the parameters as members of a JSON object",
    });
  const parameters = Object.create(null) as Record<string, string | readonly string[] | undefined>;
  for (const name of Object.keys(body)) parameters[name] = textsOf(body[name]);
  return parameters;
}

const notTextError = (name: string): OAuthError =>
  new OAuthError("invalid_request", `${name} must be a string`, {
    // RFC 6749 has forms only, whose values are texts.
    rule: null,
    parameter: name,
    fix: `put the value of ${name} in quotes`,
  });

/**
 * The single value of a parameter; one without a value counts as not sent (RFC 6749 3.1).
 * @throws {OAuthError} invalid_request if it was sent twice (RFC 6749 3.2)
 */
export function single(parameters: RawParameters, name: string): string | undefined {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === notText) throw notTextError(name);
  if (Array.isArray(value)) {
    const sent = value.length === 1 ? "as a list; send text" : `${value.length} times; send it once`;
    throw new OAuthError("invalid_request", `${name} was sent ${sent}`, {
      rule: "RFC 6749 3.2",
      parameter: name,
      fix: null,
    });
  }
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Every value of a parameter that may be sent more than once. @throws {OAuthError} invalid_request for a value that is not text */
export function every(parameters: RawParameters, name: string): readonly string[] {
  const value = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (value === notText) throw notTextError(name);
  return value === undefined ? [] : typeof value === "string" ? [value] : value;
}

const encodedBytes = /(?:%[0-9a-f]{2})+/gi;

function decodes(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether percent-encoded bytes are UTF-8 (RFC 6749 B). Decoders replace other bytes, and `state` has to be returned unchanged.
 * @param text of a query or a form; a "%" that encodes nothing stands for itself
 */
export const isUtf8Encoded = (text: string): boolean => (text.match(encodedBytes) ?? []).every(decodes);
