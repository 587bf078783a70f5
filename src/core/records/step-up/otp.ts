import { createHmac } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { ReadTx, Tx, User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { sameSecret } from "../../base/secrets.ts";

/** One-time codes (RFC 6238): SHA-1, 6 digits, 30 s, as every authenticator app takes them. They follow the clock of the issuer. */

/** Seconds. */
const period = 30;
/** Seconds that somebody has to type a code: one that ends sooner is taken, but not shown. */
const typingTime = 15;
/** How long (milliseconds of real time) a used code is remembered at least, in case the clock is set back. */
const usedMemory = 86_400_000;

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** RFC 4648 6, without padding. */
export function toBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return (bits.match(/.{1,5}/g) ?? []).map((five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)]).join("");
}

/** @param text base32 in either case; spaces and padding do not count */
export function fromBase32(text: string): Buffer {
  const letters = text.toUpperCase().replaceAll(/[\s=]/g, "");
  const bits = Array.from(letters, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("");
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** A secret of 20 bytes, the size of the hash (RFC 4226 4). */
const newSecret = ({ random }: Pick<Context, "random">): string => toBase32(Buffer.from(random(20), "base64url"));

/** The user with a secret, where one-time codes are among the factors and none was given. */
export const withSecret = (user: User, ctx: Pick<Context, "random">): User =>
  user.factors?.includes("otp") === true && user.otp_secret === undefined
    ? { ...user, otp_secret: newSecret(ctx) }
    : user;

const stepAt = (milliseconds: number): number => Math.floor(milliseconds / 1000 / period);

/** RFC 4226 5.3. */
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", fromBase32(secret)).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0xf;
  return String((mac.readUInt32BE(offset) & 0x7fff_ffff) % 1_000_000).padStart(6, "0");
}

const usedId = ({ id }: User, step: number): string => `otp ${id} ${step}`;

/** The codes that are accepted now and were not used: of the previous, the current and the next step (RFC 6238 5.2). */
function unusedSteps(tx: ReadTx, ctx: Pick<Context, "now">, user: User): readonly number[] {
  const now = stepAt(ctx.now());
  return [now - 1, now, now + 1].filter((step) => tx.get("usedAssertions", usedId(user, step)) === undefined);
}

/** A code that can be typed now. */
export interface OneTimeCode {
  readonly code: string;
  /** Seconds until it is no longer accepted. */
  readonly expiresIn: number;
}

/** The oldest unused code that is taken for long enough to type it; null with the seconds until there is one again. */
export function currentCode(
  tx: ReadTx,
  ctx: Pick<Context, "now">,
  user: User,
): (OneTimeCode & { readonly step: number }) | { readonly code: null; readonly wait: number } {
  const now = ctx.now() / 1000;
  const step = unusedSteps(tx, ctx, user).find((one) => (one + 2) * period - now >= typingTime);
  if (step === undefined) return { code: null, wait: Math.max(1, Math.ceil((stepAt(ctx.now()) + 1) * period - now)) };
  return { code: codeAt(secretOf(user), step), step, expiresIn: Math.ceil((step + 2) * period - now) };
}

/** Takes a code: each is accepted once (RFC 6238 5.2). @returns whether it was accepted */
export function takeCode(tx: Tx, ctx: Pick<Context, "now" | "clock">, user: User, typed: string): boolean {
  const digits = typed.replaceAll(/\s/g, "");
  const step = unusedSteps(tx, ctx, user).find((one) => sameSecret(digits, codeAt(secretOf(user), one)));
  if (step !== undefined) useStep(tx, ctx, user, step);
  return step !== undefined;
}

/** No code can be used at the moment. */
class NoCodeLeft extends Error {
  override readonly name = "NoCodeLeft";
  /** Seconds until there is one again. */
  readonly wait: number;
  readonly username: string;
  constructor(username: string, wait: number) {
    super(`no one-time code of ${username} is left; the next one is valid in ${wait} s`);
    this.username = username;
    this.wait = wait;
  }
}

/** Uses the oldest code that is left, for a user who signs in without a page. @throws {NoCodeLeft} */
export function useCurrentCode(tx: Tx, ctx: Pick<Context, "now" | "clock">, user: User): void {
  const current = currentCode(tx, ctx, user);
  if (current.code === null) throw new NoCodeLeft(user.username, current.wait);
  useStep(tx, ctx, user, current.step);
}

/** Runs `work` again when there is a code again. @throws {OAuthError} access_denied while the clock is frozen, since no code ever comes */
export async function whenCodeLeft<T>(ctx: Pick<Context, "clock">, work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof NoCodeLeft)) throw error;
      if (ctx.clock.isFrozen()) {
        throw new OAuthError("access_denied", `${error.message}, but the clock is frozen`, {
          rule: "RFC 6238 5.2",
          fix: { text: "To go on", command: ["idp", "clock", "advance", "30s"] },
        });
      }
      await setTimeout(error.wait * 1000);
    }
  }
}

/** Records that the code of a step was used. It outlives restarts and restores, as other identifiers that may be used once do. */
function useStep(tx: Tx, ctx: Pick<Context, "clock">, user: User, step: number): void {
  const end = (step + 2) * period * 1000;
  tx.insert("usedAssertions", { id: usedId(user, step), expiresAt: Math.max(end, ctx.clock.real() + usedMemory) });
}

/** The address that an authenticator app reads (the Key URI format). */
export function keyUri(ctx: Pick<Context, "issuer">, user: User): string {
  const issuer = new URL(ctx.issuer).host;
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(user.username)}`;
  return `otpauth://totp/${label}?secret=${secretOf(user)}&issuer=${encodeURIComponent(issuer)}&algorithm=SHA1&digits=6&period=${period}`;
}

function secretOf({ username, otp_secret: secret }: User): string {
  if (secret === undefined) throw new Error(`user ${username} has no otp_secret`);
  return secret;
}
