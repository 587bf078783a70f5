import { NestingError, parseJson, asNumber, parseExact, isObject } from "../../../../text/json.ts";
import { OperationError } from "../../../base/errors.ts";
import { withoutEnd } from "../../../../text/redacted.ts";
import { bytesOf } from "../../../../jwt/checks.ts";

/** What a token says, each number with its digits. Nothing here checks a signature: verify a token before you trust it. */
export interface DecodedToken {
  readonly header: Readonly<Record<string, unknown>>;
  readonly payload: Readonly<Record<string, unknown>>;
  /** base64url, as in the token; empty for an unsigned one. */
  readonly signature: string;
  /** Seconds until `exp`, negative once it has passed; null if the token has no `exp` that is a number. */
  readonly expiresIn: number | null;
  readonly verified: false;
}

/** One token found in a text, and the member of the token response it came from. */
export interface FoundToken {
  readonly name: string | null;
  readonly token: string;
}

const notAToken = (message: string, hint: string): OperationError => new OperationError("refused", message, { hint });

const tooDeep = (what: string, cause: NestingError): OperationError =>
  new OperationError("refused", `${what} is not read: ${cause.message}`, {
    hint: "No claim needs that. Whatever made the token may have made it to crash its readers.",
    cause,
  });

/** What is left of a pasted token once the wrapping is off: quotes, a trailing comma, `Authorization:` and `Bearer`. */
const unwrap = (text: string): string =>
  withoutEnd(text.trim(), "\"'`,;")
    .replace(/^["'`]+/, "")
    .replace(/^authorization:\s*/i, "")
    .replace(/^(bearer|dpop)\s+/i, "")
    .trim();

/** Whether a text has the form of a token in three parts. */
export const hasParts = (text: string): boolean => /^[^.\s]+\.[^.\s]+\.[^.\s]*$/.test(text);

/**
 * The tokens in a text: one token in any wrapping, a whole token response (its members that are tokens), or a token a line.
 * A single token that was broken over several lines is put together again.
 * @throws {OperationError} refused if nothing in the text can be one
 */
export function findTokens(text: string): readonly FoundToken[] {
  const trimmed = text.trim();
  if (trimmed === "")
    throw notAToken("there is no token: the text is empty", "Give it as an argument or on standard input.");
  if (trimmed.startsWith("{")) return tokensOfResponse(trimmed);
  const lines = trimmed
    .split(/\r?\n/)
    .map(unwrap)
    .filter((line) => line !== "");
  if (lines.length > 1 && lines.every(hasParts)) return lines.map((token) => ({ name: null, token }));
  return [{ name: null, token: unwrap(lines.join("")).replace(/\s+/g, "") }];
}

function tokensOfResponse(text: string): readonly FoundToken[] {
  let response: unknown;
  try {
    response = parseJson(text);
  } catch (error) {
    if (error instanceof NestingError) throw tooDeep("this token response", error);
    throw notAToken(
      "this starts like a token response but is not JSON",
      "Give the whole token response, or one token.",
    );
  }
  const found = Object.entries(isObject(response) ? response : {}).flatMap(([name, value]) =>
    typeof value === "string" && (name.endsWith("_token") || name === "token") && hasParts(value)
      ? [{ name, token: value }]
      : [],
  );
  if (found.length === 0) {
    const members = Object.keys(isObject(response) ? response : {}).join(", ");
    throw notAToken(
      `this JSON holds no token; its members are: ${members || "none"}`,
      "A token response has access_token, id_token or refresh_token; what idp token issue --json prints has token.",
    );
  }
  return found;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodePart(part: string, what: "header" | "payload"): Record<string, unknown> {
  const stray = /[^A-Za-z0-9_-]/.exec(part);
  if (stray !== null) {
    throw notAToken(
      `this is not a JWT: the ${what} holds ${JSON.stringify(stray[0])}, which is not base64url`,
      "Part of the token may be missing, or something else was copied with it.",
    );
  }
  let value: unknown;
  try {
    value = parseExact(utf8.decode(Buffer.from(part, "base64url")));
  } catch (error) {
    if (error instanceof NestingError) throw tooDeep(`the ${what} of this token`, error);
    throw new OperationError("refused", `this is not a JWT: the ${what} is not JSON`, {
      hint: "Part of the token may be missing. Copy it whole: three parts with a dot between them.",
      cause: error,
    });
  }
  if (bytesOf(part) === null) {
    throw notAToken(
      `this is not a JWT: the last character of the ${what} has bits that belong to no byte (RFC 4648 3.5)`,
      "Copy the token again; whatever made it has to write base64url in its one form.",
    );
  }
  if (!isObject(value)) {
    throw notAToken(`this is not a JWT: the ${what} is not a JSON object`, "RFC 7519 3: a JWT holds a set of claims.");
  }
  return value;
}

/** Access tokens that say nothing to their reader. */
const opaqueForms = [
  { name: "Google", form: /^ya29\.[\w-]+$/ },
  { name: "GitHub", form: /^gh[opusr]_[\w-]+$/ },
];

/**
 * Reads a JWT without any check: no signature, no times, no issuer. Needs no server and no data.
 * @param now milliseconds since 1970, from which `expiresIn` is counted
 * @throws {OperationError} refused, with what is wrong, if the value is not a JWT
 */
export function decodeToken(token: string, now: number): DecodedToken {
  const vendor = opaqueForms.find(({ form }) => form.test(token));
  if (vendor !== undefined) {
    throw notAToken(
      `this is an access token of ${vendor.name}: it is opaque, so there is nothing to decode`,
      "To see what it is good for: idp token introspect -",
    );
  }
  const parts = token.split(".");
  const [header = "", payload = "", signature = ""] = parts;
  if (parts.length === 1) {
    throw notAToken(
      "this is not a JWT (no dots)",
      "It may be an authorization code or an opaque token: only the server that issued it can read it.",
    );
  }
  if (parts.length === 5) {
    throw notAToken(
      "this is an encrypted JWT (JWE, RFC 7516): five parts",
      "Only the holder of its key can read it; idp issues no encrypted tokens.",
    );
  }
  if (parts.length !== 3) {
    throw notAToken(
      `this is not a JWT: it has ${parts.length} parts, a JWT has three`,
      "Part of the token may be missing. Copy it whole: three parts with a dot between them.",
    );
  }
  const claims = decodePart(payload, "payload");
  const exp = asNumber(claims.exp);
  return {
    header: decodePart(header, "header"),
    payload: claims,
    signature,
    expiresIn: exp === undefined ? null : Math.floor(exp - now / 1000),
    verified: false,
  };
}
