import { hash } from "node:crypto";
import { isObject, jsonObjectIn } from "../../../text/json.ts";
import { cut, redacted } from "../../../text/redacted.ts";
import { isList, isOpen, isParameterName, openNames } from "../../protocol/redaction/places.ts";
import { shownValue } from "../../protocol/redaction/values.ts";

/**
 * Takes the secrets out of a record: no usable secret of the parameters, tokens and bodies of a request gets into it. `recordOf`
 * (recording.ts) does so when somebody first reads the record; the path, the outcome and the fix go through core/protocol/redaction there. What this
 * server itself sends to provision users is recorded whole, and its token as a fingerprint.
 */

/** Replaces a value that may be a secret. */
interface Fingerprint {
  /** Equal values have equal fingerprints. Null: nothing of it is recorded. */
  readonly fingerprint: string | null;
  /** The header of a JWT. Its signature is not recorded. */
  readonly header?: Readonly<Record<string, unknown>>;
  readonly claims?: Readonly<Record<string, unknown>>;
}

/** Names of values that people choose. Not even a fingerprint of them is recorded: it would let others check guesses. */
const never = /passw|secret|csrf|passphrase|registration_access_token/i;

/** The name of a parameter of which something is recorded. A JSON Schema has no flag to ignore the case. */
export const recordedName = new RegExp(
  `^(?:${[...openNames].join("|")})$|^(?![\\s\\S]*(?:${never.source.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)}))`,
);

/** The senders of requests choose how long values are, and how many. */
const maxLength = 500;
const maxItems = 100;
const maxJwtLength = 16_384;

const shortened = (text: string): string => cut(redacted(text), maxLength);

/** The sender of a token chooses how deep its claims are nested. Deeper ones are cut off. */
const deepest = 8;

/** How many characters of values and names one record may have, and for how many each value counts: an empty list takes memory, too. */
const maxRecorded = 65_536;
const perValue = 32;

/** What is left for the values of a record. */
export interface Room {
  left: number;
}

/** Whether there is room for one more value, which takes it. */
function takes(room: Room, characters = 0): boolean {
  room.left -= perValue + characters;
  return room.left >= 0;
}

/** A value as it is recorded: shortened, and without what may be a secret. */
export function copied(value: unknown, text = shortened, room: Room = { left: maxRecorded }, depth = 0): unknown {
  if (!takes(room, typeof value === "string" ? Math.min(value.length, maxLength) : 0)) return "…";
  if (typeof value === "string") return text(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return "…";
  if (Array.isArray(value)) {
    return value.slice(0, maxItems).flatMap((one) => (room.left > 0 ? [copied(one, text, room, depth + 1)] : []));
  }
  const copy: Record<string, unknown> = {};
  for (const [given, one] of Object.entries(value).slice(0, maxItems)) {
    if (room.left <= 0) break;
    const name = text(given);
    room.left -= name.length;
    const own = copied(one, text, room, depth + 1);
    // An assignment would set the prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { value: own, enumerable: true });
    else copy[name] = own;
  }
  return copy;
}

const jsonOf = (part = "") => (part === "" ? null : jsonObjectIn(Buffer.from(part, "base64url")));

/** Header and claims of a JWT, unverified. */
type Parts = Required<Pick<Fingerprint, "header" | "claims">>;

/** A value that may be a secret, while its request is looked at. */
export interface Token {
  readonly fingerprint: string;
  /** Null: it is no JWT. */
  readonly parts: Parts | null;
}

function partsOfJwt(text: string): Parts | null {
  if (!text.startsWith("ey") || text.length > maxJwtLength) return null;
  const [first, second, , ...more] = text.split(".");
  const header = more.length === 0 ? jsonOf(first) : null;
  const claims = header === null ? null : jsonOf(second);
  return header === null || claims === null ? null : { header, claims };
}

/** Whether a recorded value is a fingerprint. */
const isFingerprint = (recorded: unknown): recorded is Fingerprint =>
  isObject(recorded) && Object.hasOwn(recorded, "fingerprint");

/** Whether a value may be the one that was recorded, with "…" in place of what is not shown. */
function fits(recorded: string, wanted: string): boolean {
  const [first = "", ...rest] = recorded.split("…");
  const last = rest.pop();
  if (last === undefined || !wanted.startsWith(first) || !wanted.endsWith(last)) return false;
  const end = wanted.length - last.length;
  let at = first.length;
  for (const part of rest) {
    // Something is in each place.
    const next = wanted.indexOf(part, at + 1);
    if (next < 0) return false;
    at = next + part.length;
  }
  return at < end;
}

/** A recorded value in words. */
export const shownAs = (recorded: unknown): string =>
  isFingerprint(recorded)
    ? recorded.fingerprint === null
      ? "not kept"
      : `#${recorded.fingerprint}`
    : typeof recorded === "string"
      ? recorded
      : JSON.stringify(recorded);

type Shown = (name: string, value: string) => string | null;

export interface Redactor {
  readonly read: (value: string) => Token;
  /** What is recorded of a value that may be a secret: its fingerprint and, for a JWT, its claims. */
  readonly redactedToken: (token: Token) => Fingerprint;
  /**
   * What is recorded of parameters.
   * @param shown the value of one that is not meant to hold a secret, as it may be shown; null: not at all
   */
  readonly parameters: (sent: Readonly<Record<string, unknown>>, shown?: Shown) => Record<string, unknown>;
  readonly isSame: (wanted: string, recorded: unknown) => boolean;
  readonly shown: (name: string, value: string) => string;
  /** What is recorded of JSON that holds no secrets: claims in a response, a metadata document. */
  readonly whole: (value: unknown) => unknown;
}

/** Makes fingerprints. @param key random for each process, so that nobody can find a value by trying */
export const fingerprintsBy =
  (key: string) =>
  (value: string): string =>
    // Cut, the hash says nothing about that of a longer value.
    hash("sha256", key + value, "base64url").slice(0, 10);

/** Makes the redactor of one request, which reads each of its tokens once. @param fingerprint of {@link fingerprintsBy} */
export function createRedactor(fingerprint: (value: string) => string): Redactor {
  const tokens = new Map<string, Token>();
  const room: Room = { left: maxRecorded };
  const read = (value: string): Token => {
    const known = tokens.get(value);
    if (known !== undefined) return known;
    const token = { fingerprint: fingerprint(value), parts: partsOfJwt(value) };
    tokens.set(value, token);
    return token;
  };
  const redactedToken = ({ fingerprint, parts }: Token): Fingerprint => {
    if (parts === null) return { fingerprint };
    const { header, claims } = copied(parts, shortened, room) as Parts;
    // As the parameter of the authorization request is recorded, so that both can be compared.
    const { nonce } = parts.claims;
    const isHidden = typeof nonce === "string" && shownValue(nonce, () => false) === null;
    return { fingerprint, header, claims: isHidden ? { ...claims, nonce: redactedToken(read(nonce)) } : claims };
  };
  const redactedValue = (value: string): Fingerprint => redactedToken(read(value));
  const redactOne = (name: string, value: unknown, shown: Shown): unknown => {
    if (typeof value === "string") {
      if (!isOpen(name)) return never.test(name) ? { fingerprint: null } : redactedValue(value);
      const text = shown(name, value);
      return text === null ? redactedValue(value) : shortened(text);
    }
    // No parameter has an object as its value, so it may hold anything.
    return isOpen(name) && (typeof value !== "object" || value === null) ? value : { fingerprint: null };
  };
  return {
    read,
    redactedToken,
    parameters(sent, shown = (_name, value) => value) {
      const entries = Object.entries(sent)
        .filter(([, value]) => value !== undefined)
        .slice(0, maxItems);
      const secret = new Set(
        entries.filter(([name]) => !isOpen(name)).flatMap(([, value]) => [value].flat().filter((one) => one !== "")),
      );
      const shownHere: Shown = (name, value) => (secret.has(value) ? null : shown(name, value));
      return Object.fromEntries(
        entries.map(([name, value]) => [
          isParameterName(name) ? name : `?${fingerprint(name)}`,
          Array.isArray(value) && value.every((one) => typeof one === "string")
            ? value.slice(0, maxItems).flatMap((one: string) => (takes(room) ? [redactOne(name, one, shownHere)] : []))
            : redactOne(name, value, shownHere),
        ]),
      );
    },
    isSame(wanted, recorded) {
      if (isFingerprint(recorded)) return recorded.fingerprint === fingerprint(wanted);
      if (typeof recorded !== "string") return JSON.stringify(recorded) === wanted;
      return recorded === shortened(wanted) || fits(recorded, wanted);
    },
    shown: (name, value) => {
      const text = isOpen(name) ? shownValue(value, () => false, isList(name)) : null;
      return shownAs(text === null ? redactedValue(value) : shortened(text));
    },
    whole: (value) => copied(value, shortened, room),
  };
}
