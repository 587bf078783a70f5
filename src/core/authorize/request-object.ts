import { parseJson } from "../../text/json-depth.ts";
import { isObject } from "../../text/json-object.ts";

/** Bytes. A longer request object is not read at all. */
const maxLength = 8192;

/**
 * `response_mode` and `state` of a request object (OpenID Connect Core 6.1), needed to send its refusal back to the client. Its signature
 * is not verified, so nothing else of it may be used, and client and redirect URI must be proven before.
 * @param request the parameter; undefined: not sent
 */
export function responseParametersOf(request: string | undefined): { readonly mode?: string; readonly state?: string } {
  if (request === undefined || request.length > maxLength) return {};
  let payload: unknown;
  try {
    payload = parseJson(Buffer.from(request.split(".")[1] ?? "", "base64url"));
  } catch {
    return {};
  }
  if (!isObject(payload)) return {};
  const { response_mode: mode, state } = payload;
  return { ...(typeof mode === "string" && { mode }), ...(typeof state === "string" && state !== "" && { state }) };
}
