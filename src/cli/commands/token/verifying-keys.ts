import { NestingError, parseJson, isObject } from "../../../text/json.ts";
import { Problem } from "../../../client/check.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { shown } from "../../../jwt/checks.ts";
import type { Keys } from "../../../jwt/signature.ts";
import { readNamedFile } from "../../input/read.ts";
import { readSecret } from "../../flags/entry-flags.ts";
import type { Invocation } from "../../invocation.ts";

export interface KeyFlags {
  readonly issuer?: string;
  readonly jwks?: string;
  readonly secretStdin?: true;
}

/** The keys of the flags, to verify a token of any issuer; null for the keys of the server or the folder. @throws {OperationError} */
export async function keysOf(cli: Invocation, { issuer, jwks, secretStdin }: KeyFlags): Promise<Keys | null> {
  if (secretStdin === true) {
    if (jwks !== undefined) throw new OperationError("usage", "give --jwks or --secret-stdin, not both");
    return {
      kind: "secret",
      secret: (await readSecret(cli, secretStdin, "secret")) ?? "",
      from: "the secret that was given",
    };
  }
  if (jwks !== undefined) {
    const isAddress = /^https?:\/\//i.test(jwks);
    return keySet(isAddress ? await getJson(jwks) : readJson(jwks), jwks);
  }
  if (issuer === undefined) return null;
  const address = await jwksUri(issuer);
  return keySet(await getJson(address), address);
}

/** @throws {OperationError} invalid */
async function keySet(value: unknown, from: string): Promise<Keys> {
  const { keysIn } = await import("../../../jwt/signature.ts");
  const jwks = keysIn(value);
  if (jwks === null) {
    throw new OperationError("invalid", `${from} is not a JWK Set`, {
      hint: 'A JWK Set is an object with a list "keys" (RFC 7517 5).',
    });
  }
  return { kind: "public", jwks, from };
}

const readJson = (file: string): unknown =>
  parse(
    readNamedFile(file, {
      code: "not_found",
      what: `--jwks ${file}`,
      hint: "Name a file with a JWK Set, or its URL",
    }).toString(),
    file,
  );

function parse(text: string, from: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    if (cause instanceof NestingError)
      throw new OperationError("invalid", `${from} is not read: ${cause.message}`, { cause });
    throw new OperationError("invalid", `${from} is not JSON`, { cause });
  }
}

async function getJson(address: string): Promise<unknown> {
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address)) {
    throw new OperationError("invalid", `${address} is not an address that keys can be fetched from`, {
      hint: "It must begin with http:// or https://.",
    });
  }
  // Loaded only to fetch keys, because https takes a while to load.
  const { send } = await import("../../../client/http.ts");
  const { status, text } = await send({ method: "GET", url: address }).catch((cause: unknown) => {
    if (!(cause instanceof Problem)) throw cause;
    const hint = `${cause.message}. Is the address right?`;
    throw new OperationError("no_server", `nothing answers at ${address}`, { hint, cause });
  });
  if (status !== 200) {
    const why = status >= 300 && status < 400 ? "; redirects are not followed here" : "";
    throw new OperationError("no_server", `${address} answers with status ${status}${why}`);
  }
  return parse(text, address);
}

/** From OpenID Connect Discovery 4, else RFC 8414 3.1. The document must name the same issuer (Discovery 4.3). */
async function jwksUri(issuer: string): Promise<string> {
  const { metadataAddresses } = await import("../../../client/provider.ts");
  const addresses = metadataAddresses(issuer);
  const found = await getJson(addresses[0]).catch((error: unknown) =>
    getJson(addresses[1]).catch(() => {
      throw error;
    }),
  );
  const { issuer: named, jwks_uri: address } = isObject(found) ? found : {};
  if (named !== issuer) {
    throw new OperationError("refused", `the issuer at ${issuer} calls itself ${shown(named)}`, {
      hint: "An issuer is compared letter by letter, a slash at its end too.",
    });
  }
  if (typeof address !== "string") throw new OperationError("invalid", `${issuer} names no jwks_uri`);
  return address;
}
