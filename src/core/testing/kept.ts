import { createHmac } from "node:crypto";
import { parseJson } from "../../json-depth.ts";
import { cut, redacted } from "../../redact.ts";
import { isObject } from "../json-object.ts";

/** What the ledger keeps of the values of a request: never a usable secret. */

/** Replaces a value that may be a secret. */
export interface Fingerprint {
  /** Equal values have equal fingerprints. Null: nothing of it is kept. */
  readonly fingerprint: string | null;
  /** Of a JWT, without its signature. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** The values that are kept as they are, by the names of their parameters. What is not listed may be a secret. */
const plain = new Set(
  [
    // Requests (RFC 6749, 7009, 7662, 8628, 8693, 8707, 9449; OpenID Connect Core 3.1.2.1, RP-Initiated Logout 2).
    "response_type response_mode client_id redirect_uri scope nonce prompt max_age display ui_locales claims_locales",
    "acr_values claims login_hint code_challenge_method dpop_jkt resource audience grant_type subject_token_type",
    "actor_token_type requested_token_type token_type_hint client_assertion_type post_logout_redirect_uri",
    // Our own pages.
    "username decision pick cancel switch q page lang theme everywhere",
    // Responses.
    "error error_description error_uri iss token_type issued_token_type expires_in interval verification_uri message",
    // Registration (RFC 7591, 7592).
    "client_name client_uri logo_uri policy_uri tos_uri jwks_uri redirect_uris post_logout_redirect_uris grant_types",
    "response_types token_endpoint_auth_method token_endpoint_auth_signing_alg application_type contacts software_id",
    "software_version id_token_signed_response_alg registration_client_uri client_id_issued_at client_secret_expires_at",
    "backchannel_logout_uri backchannel_logout_session_required initiate_login_uri default_max_age require_auth_time",
  ].flatMap((line) => line.split(" ")),
);

/** Of these, not even a fingerprint is kept: people choose them, and a fingerprint would let others check guesses. */
const never = /passw|secret|csrf|passphrase|registration_access_token/i;

/** The senders of requests choose how long values are, and how many. */
const longest = 500;
const most = 100;
/** A shorter value may be part of a common word. */
const shortest = 6;
const longestJwt = 16_384;

/** Values of this form are names, not secrets, and may be shown. */
const isName = (name: string): boolean => /^[a-z][\w.:-]{0,40}$/i.test(name) && !looksRandom(name);

/** Whether a value looks like a code or a token, not like a name, an id or a part of a path. */
export const looksRandom = (text: string): boolean => text.length >= 16 && /\d/.test(text) && /[A-Z]/.test(text);

/** The parameters in an address that was sent: `?code=…`. */
const inAddress = /([?&#])([^=&#]+)=([^&#]*)/g;

const isHidden = (name: string, value: string): boolean => !plain.has(name) && value.length >= shortest;

const shortened = (text: string): string => cut(redacted(text), longest);

/** A value that may be shown. An address in it may hold a code or a password. */
const shownText = (text: string): string =>
  shortened(
    text.replaceAll(inAddress, (all, before: string, name: string, value: string) =>
      isHidden(name, value) ? `${before}${name}=…` : all,
    ),
  );

/** The sender of a token chooses how deep its claims are nested. Deeper ones are cut off. */
const deepest = 8;

/** Copies a value. A slice of a string would keep the whole body in memory. */
export function copied(value: unknown, text = shortened, depth = 0): unknown {
  if (typeof value === "string") return JSON.parse(JSON.stringify(text(value)));
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return "…";
  if (Array.isArray(value)) return value.slice(0, most).map((one) => copied(one, text, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, most)
      .map(([name, one]) => [name, copied(one, text, depth + 1)]),
  );
}

/** A value of an address without its URL encoding; as it is, if that is not valid. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}

function jsonOf(part: string | undefined): Readonly<Record<string, unknown>> | null {
  if (part === undefined || part === "") return null;
  try {
    const value = parseJson(Buffer.from(part, "base64url"));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Header and claims of a JWT, unverified; null for anything else. */
export function partsOfJwt(text: string): Required<Pick<Fingerprint, "header" | "claims">> | null {
  if (!text.startsWith("ey") || text.length > longestJwt) return null;
  const [first, second, , ...more] = text.split(".");
  const header = more.length === 0 ? jsonOf(first) : null;
  const claims = header === null ? null : jsonOf(second);
  return header === null || claims === null ? null : { header, claims };
}

/** Whether a kept value is a fingerprint. */
const isFingerprint = (kept: unknown): kept is Fingerprint => isObject(kept) && Object.hasOwn(kept, "fingerprint");

/** A kept value in words. */
export const shownAs = (kept: unknown): string =>
  isFingerprint(kept)
    ? kept.fingerprint === null
      ? "not kept"
      : `#${kept.fingerprint}`
    : typeof kept === "string"
      ? kept
      : JSON.stringify(kept);

/** Whether anything is kept of a parameter. */
export const isKept = (name: string): boolean => plain.has(name) || !never.test(name);

export interface Keeper {
  /** A fingerprint that nobody can compute without the key. */
  readonly fingerprint: (value: string) => string;
  /** A value that may be a secret: its fingerprint and, for a JWT, its claims. */
  readonly sealed: (value: string) => Fingerprint;
  /**
   * What is kept of parameters.
   * @param isKnown whether a value that people type may be shown, because they may type a password into the wrong field
   */
  readonly parameters: (
    sent: Readonly<Record<string, unknown>>,
    isKnown?: (name: string, value: string) => boolean,
  ) => Record<string, unknown>;
  /** The values among them that are not shown, for texts that repeat what was sent. */
  readonly hidden: (
    sent: Readonly<Record<string, unknown>>,
    isKnown: (name: string, value: string) => boolean,
  ) => readonly string[];
  readonly isSame: (wanted: string, kept: unknown) => boolean;
  readonly shown: (name: string, value: string) => string;
  /** What is kept of a response that holds claims but no secrets. */
  readonly whole: (value: unknown) => unknown;
}

/** @param key random for each process, so that nobody can find a value by trying */
export function createKeeper(key: string): Keeper {
  const fingerprint = (value: string): string =>
    createHmac("sha256", key).update(value).digest("base64url").slice(0, 10);
  const sealed = (value: string): Fingerprint => {
    const parts = partsOfJwt(value);
    return { fingerprint: fingerprint(value), ...(parts !== null && (copied(parts) as typeof parts)) };
  };
  const keepOne = (name: string, value: unknown, isShown: (name: string, value: string) => boolean): unknown => {
    const isPlain = plain.has(name);
    if (typeof value === "string") {
      if (isPlain) return isShown(name, value) ? copied(value, shownText) : sealed(value);
      return never.test(name) ? { fingerprint: null } : sealed(value);
    }
    // No parameter has an object as its value, so it may hold anything.
    return isPlain && (typeof value !== "object" || value === null) ? value : { fingerprint: null };
  };
  return {
    fingerprint,
    sealed,
    parameters(sent, isKnown = () => true) {
      const entries = Object.entries(sent)
        .filter(([, value]) => value !== undefined)
        .slice(0, most);
      const hidden = new Set(
        entries.filter(([name]) => !plain.has(name)).flatMap(([, value]) => [value].flat().filter((one) => one !== "")),
      );
      const isShown = (name: string, value: string): boolean => isKnown(name, value) && !hidden.has(value);
      return Object.fromEntries(
        entries.map(([name, value]) => [
          plain.has(name) || isName(name) ? name : `?${fingerprint(name)}`,
          Array.isArray(value) && value.every((one) => typeof one === "string")
            ? value.slice(0, most).map((one: string) => keepOne(name, one, isShown))
            : keepOne(name, value, isShown),
        ]),
      );
    },
    hidden: (sent, isKnown) =>
      Object.entries(sent)
        .slice(0, most)
        .flatMap(([name, given]) =>
          [given].flat().flatMap((value) => {
            if (typeof value !== "string" || value.length < shortest) return [];
            if (!plain.has(name) || !isKnown(name, value)) return [value];
            const nested = [...value.matchAll(inAddress)].filter(([, , key = "", one = ""]) => isHidden(key, one));
            return nested.flatMap(([, , , one = ""]) => [one, decoded(one)]);
          }),
        ),
    isSame(wanted, kept) {
      if (isFingerprint(kept)) return kept.fingerprint === fingerprint(wanted);
      return kept === shownText(wanted) || (typeof kept !== "string" && JSON.stringify(kept) === wanted);
    },
    shown: (name, value) => shownAs(plain.has(name) ? shownText(value) : sealed(value)),
    whole: (value) => copied(value),
  };
}
