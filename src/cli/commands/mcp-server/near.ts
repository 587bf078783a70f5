import { OperationError } from "../../../core/base/errors.ts";
import { isLoopbackUrl } from "../../../net/address.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";

/**
 * What an agent may register. It may have read an address in a request of a stranger, so a client gets addresses of this machine alone, unless
 * whoever started the tools allows others. A custom scheme leads to whichever program took it.
 */

/** Fields that hold no address, at any depth. In all others, every text with a scheme is one. */
const texts = new RegExp(
  `^(?:${[
    "(?:new_)?client_id|client_secret|client_name(?:#.*)?|scope|contacts|software_id|software_version|audience|claims|env",
    "jwks|default_acr_values|grant_types|response_types|attributes|nameid|certificates|token|groups|subject",
  ].join("|")})$`,
);

/** RFC 3986 3.1. */
const scheme = /^\s*[a-z][a-z\d+.-]*:/i;

/** `http://127.0.0.1:*` is any port. */
const isNear = (address: string): boolean =>
  isLoopbackUrl(address.replace(/^(https?:\/\/[^/?#]*):\*(?=[/?#]|$)/i, "$1:1"));

/** The addresses in a field, each behind the name of the field. */
function* addressesIn(value: unknown, field: string): Generator<string> {
  if (texts.test(field)) return;
  if (typeof value === "string" && scheme.test(value)) yield `${field} ${value}`;
  else if (Array.isArray(value)) for (const one of value as unknown[]) yield* addressesIn(one, field);
  else if (isObject(value)) for (const [name, one] of Object.entries(value)) yield* addressesIn(one, name);
}

/**
 * @param present the client as it is: what it has may stay
 * @throws {OperationError} refused
 */
export function requireNear(metadata: JsonObject, allowRemote: boolean, present: JsonObject = {}): void {
  const { saml } = metadata;
  // XML, or the path of a file with it.
  if (isObject(saml) && saml["metadata"] !== undefined) {
    throw new OperationError("refused", "saml.metadata is not taken from a tool", {
      hint: "Give the addresses in saml.acs, or let a person run: idp clients add --saml-metadata FILE",
    });
  }
  if (allowRemote) return;
  const had = new Set(addressesIn(present, ""));
  for (const one of addressesIn(metadata, "")) {
    const [field = "", address = ""] = one.split(/ (.*)/s);
    if (isNear(address) || had.has(one)) continue;
    throw new OperationError("refused", `${field} must lead to this machine: ${address} does not`, {
      hint: "Ask the person whether the address is theirs. They register it with idp clients, or start these tools with --allow-remote.",
    });
  }
}
