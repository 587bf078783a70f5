import { asNumber, exactJson, type JsonObject } from "../text/json.ts";
import { relative, utcTime } from "../text/time.ts";

/** The checks of a token of anybody that need no key. Each one is made and reported, even after one has failed. */

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** Why, in words for the operator. */
  readonly detail: string;
}

export interface Expected {
  /** Null: any. */
  readonly issuer: string | null;
  /** Null: any. */
  readonly audience: string | null;
  /** Seconds that clocks may be apart. */
  readonly leeway: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * The bytes of a part of a token. Bits that the last character does not need must be zero (RFC 4648 3.5), and there is no padding (RFC 7515
 * 2), so that a token can be written in one way only.
 * @returns null if the text is not base64url in that form
 */
export function bytesOf(part: string): Buffer | null {
  const bytes = Buffer.from(part, "base64url");
  return bytes.toString("base64url") === part ? bytes : null;
}

/** What the header asks of its reader, and nobody here can do (RFC 7515 4.1.11); null if nothing. */
export const criticalProblem = ({ crit }: JsonObject): string | null =>
  crit === undefined
    ? null
    : `its header has crit: ${shown(crit)}, and no such extension is known here (RFC 7515 4.1.11)`;

/** A value as the token has it. */
export const shown = (value: unknown): string => (value === undefined ? "none" : exactJson(value, 0));

/** "3 days ago (2023-11-14 22:13:20 UTC)". @param time seconds since 1970 */
export const moment = (time: number, now: number): string =>
  `${relative(time - now)} (${utcTime(time) ?? "not a date"})`;

/** The claims `iss`, `aud`, `exp`, `nbf` and `iat` (RFC 7519 4.1). */
export function checkClaims(claims: JsonObject, { issuer, audience, leeway, now: milliseconds }: Expected): Check[] {
  const now = milliseconds / 1000;
  const { iss, aud, exp, nbf, iat } = claims;
  const checks: Check[] = [];
  if (issuer !== null) {
    const ok = iss === issuer;
    checks.push({ name: "iss", ok, detail: ok ? issuer : `expected ${issuer}, the token has ${shown(iss)}` });
  }
  if (audience !== null) {
    const ok = [aud].flat().includes(audience);
    checks.push({ name: "aud", ok, detail: ok ? audience : `expected ${audience}, the token has ${shown(aud)}` });
  } else if (isNowhere(aud)) {
    checks.push({ name: "aud", ok: false, detail: `${shown(aud)}, a name that no API can have (RFC 6761 6.4)` });
  }
  checks.push(checkExpiry(exp, now, leeway));
  if (nbf !== undefined) checks.push(checkBegun("nbf", "valid since", "valid", nbf, now, leeway));
  if (iat === undefined) checks.push({ name: "iat", ok: true, detail: "the token does not say when it was issued" });
  else checks.push(checkBegun("iat", "issued", "issued", iat, now, leeway));
  return checks;
}

/** Whether the audience is at a host name that never resolves (RFC 6761 6.4), as `idp token issue --wrong-audience` writes it. */
const isNowhere = (aud: unknown): boolean =>
  typeof aud === "string" && URL.canParse(aud) && new URL(aud).hostname.endsWith(".invalid");

const withinLeeway = (leeway: number): string => `, within the leeway of ${leeway} s`;

/** Seconds since 1970; undefined if it is not a number, or one that is too large for arithmetic. */
function timeOf(given: unknown): number | undefined {
  const time = asNumber(given);
  return Number.isFinite(time) ? time : undefined;
}

function checkExpiry(given: unknown, now: number, leeway: number): Check {
  const exp = timeOf(given);
  if (given === undefined) return { name: "exp", ok: false, detail: "the token has no exp, so it would never expire" };
  if (exp === undefined) return { name: "exp", ok: false, detail: `exp is not a number of seconds: ${shown(given)}` };
  const isOver = exp <= now;
  const ok = exp > now - leeway;
  return {
    name: "exp",
    ok,
    detail: `${isOver ? "expired" : "expires"} ${moment(exp, now)}${isOver && ok ? withinLeeway(leeway) : ""}`,
  };
}

/** A time that must be in the past. */
function checkBegun(name: string, past: string, future: string, given: unknown, now: number, leeway: number): Check {
  const time = timeOf(given);
  if (time === undefined) return { name, ok: false, detail: `${name} is not a number of seconds: ${shown(given)}` };
  if (time <= now) return { name, ok: true, detail: `${past} ${moment(time, now)}` };
  const ok = time <= now + leeway;
  return { name, ok, detail: `${future} ${moment(time, now)}, in the future${ok ? withinLeeway(leeway) : ""}` };
}
