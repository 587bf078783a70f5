import { relyingParty, worksAt } from "../../records/step-up/proofs.ts";
import type { Passkey, ReadTx, User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { requireUserForm, csrfOf } from "../user-form.ts";
import { liveSession, type LiveSession } from "../sessions/sessions.ts";
import type { Browser } from "../interactions.ts";
import { factorsOf } from "../../records/step-up/acr.ts";
import { sessionStrength } from "../needs.ts";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { jsonObjectIn } from "../../../text/json.ts";
import { hashOf } from "../../base/secrets.ts";

/** Passkeys (WebAuthn): what a browser is asked for, and whether its answer is genuine. The package is loaded when one is used. */

const webauthn = () => import("@simplewebauthn/server");

/**
 * What the authenticator signs: made from secrets that only this browser's page has, so that nothing has to be kept. It changes with each
 * sign-in and each session, so an old answer is of no use (WebAuthn 13.4.3).
 * @param secrets of the page and the session
 */
export const challengeOf = (...secrets: readonly string[]): string => hashOf(`passkey ${secrets.join(" ")}`);

const bytes = (base64url: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(base64url, "base64url"));

/** What `navigator.credentials.get` takes, as JSON. */
export async function requestOptions(ctx: Pick<Context, "address">, user: User, challenge: string): Promise<object> {
  const { generateAuthenticationOptions } = await webauthn();
  return generateAuthenticationOptions({
    rpID: relyingParty(ctx.address).id,
    challenge: bytes(challenge),
    allowCredentials: credentialsOf(user),
  });
}

/** What `navigator.credentials.create` takes, as JSON. */
async function creationOptions(ctx: Pick<Context, "address">, user: User, challenge: string): Promise<object> {
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    rpID: relyingParty(ctx.address).id,
    rpName: "idp",
    userID: bytes(hashOf(user.id)),
    userName: user.username,
    userDisplayName: user.displayName,
    challenge: bytes(challenge),
    excludeCredentials: credentialsOf(user),
  });
}

type Transports = NonNullable<RegistrationResponseJSON["response"]["transports"]>;
/** The passkeys that a user has, as both options name them. */
const credentialsOf = ({ passkeys = [] }: User) =>
  passkeys.map(({ id, transports }) => ({ id, transports: [...transports] as Transports }));

/** What an answer must be bound to: this page, this origin and this relying party (WebAuthn 7.1, 7.2). */
function expectedOf({ address }: Pick<Context, "address">, challenge: string) {
  const { id, origin } = relyingParty(address);
  return { expectedChallenge: challenge, expectedOrigin: origin, expectedRPID: id, requireUserVerification: false };
}

/** A new passkey, from what the browser answered. @returns null if that is not genuine, or not for this page */
async function readNewPasskey(
  ctx: Pick<Context, "address" | "now">,
  answer: unknown,
  challenge: string,
): Promise<Passkey | null> {
  const { verifyRegistrationResponse } = await webauthn();
  const verified = await verifyRegistrationResponse({
    ...expectedOf(ctx, challenge),
    response: answer as RegistrationResponseJSON,
  }).catch(() => null);
  if (verified?.verified !== true) return null;
  const { credential } = verified.registrationInfo;
  return {
    id: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
    transports: credential.transports ?? [],
    createdAt: new Date(ctx.now()).toISOString(),
  };
}

/**
 * The passkey of this user that gave the answer, with its new counter.
 * @returns null if the answer is not genuine, is for another page or origin, or comes from a passkey of another user
 */
export async function verifyPasskey(
  ctx: Pick<Context, "address">,
  user: User,
  answer: unknown,
  challenge: string,
): Promise<Passkey | null> {
  const passkey = user.passkeys?.find(({ id }) => id === (Object(answer) as { readonly id?: unknown }).id);
  if (passkey === undefined) return null;
  const { verifyAuthenticationResponse } = await webauthn();
  const verified = await verifyAuthenticationResponse({
    ...expectedOf(ctx, challenge),
    response: answer as AuthenticationResponseJSON,
    credential: { id: passkey.id, publicKey: bytes(passkey.publicKey), counter: passkey.counter },
  }).catch(() => null);
  return verified?.verified === true ? { ...passkey, counter: verified.authenticationInfo.newCounter } : null;
}

/** The passkeys of a user on the account page. A user who has a factor must prove one before changing them. */

/** What the account page shows of factors. */
interface OwnFactors {
  readonly factors: readonly ("otp" | "passkey")[];
  readonly passkeys: readonly Pick<Passkey, "id" | "createdAt">[];
  /** True: these can be changed only after the user proves a factor in this session. */
  readonly locked: boolean;
  /** What the browser's script asks for; null: locked, or passkeys do not work at this address. */
  readonly options: object | null;
  readonly insecure: boolean;
}

/** Passkeys of a user; more than anybody has. */
const maxPasskeys = 20;

/** It changes with every change of the passkeys, so that an answer registers one passkey once. */
const challengeFor = (csrf: string, { passkeys = [] }: User): string =>
  challengeOf("new", csrf, ...passkeys.map(({ id }) => id));

const isLocked = (ctx: Context, live: LiveSession): boolean => sessionStrength(ctx, "factor", live) !== "enough";

/** @returns null if nobody is signed in */
export async function showOwnFactors(ctx: Context, browser: Browser): Promise<OwnFactors | null> {
  const found = await ctx.store.read((tx) => {
    const live = liveSession(tx, browser.session);
    return live && { live, csrf: csrfOf(browser, live), locked: isLocked(ctx, live) };
  });
  if (found === null) return null;
  const { live, csrf, locked } = found;
  const { user } = live;
  const works = worksAt(ctx.address);
  return {
    factors: factorsOf(user),
    passkeys: (user.passkeys ?? []).map(({ id, createdAt }) => ({ id, createdAt })),
    locked,
    options: locked || !works ? null : await creationOptions(ctx, user, challengeFor(csrf, user)),
    insecure: !works,
  };
}

/** `factor`: another factor has to be proved first. Null: nobody is signed in. */
export type PasskeyChange = "done" | "refused" | "factor" | null;

/** @throws {InteractionError | OtherUserError} */
function deciding(tx: ReadTx, browser: Browser, csrf: string): LiveSession | null {
  const live = liveSession(tx, browser.session);
  if (live !== null) requireUserForm(csrf, csrfOf(browser, live), live.user.username);
  return live;
}

/**
 * Adds the passkey that the browser made.
 * @throws {InteractionError | OtherUserError}
 */
export async function addPasskey(
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string; readonly passkey: string },
): Promise<PasskeyChange> {
  const before = await ctx.store.read((tx) => deciding(tx, browser, form.csrf));
  if (before === null) return null;
  const challenge = challengeFor(form.csrf, before.user);
  const passkey = await readNewPasskey(ctx, jsonObjectIn(form.passkey), challenge);
  return ctx.store.transaction((tx): PasskeyChange => {
    const live = deciding(tx, browser, form.csrf);
    if (live === null) return null;
    if (isLocked(ctx, live)) return "factor";
    const { user } = live;
    const { passkeys = [] } = user;
    if (passkey === null || challengeFor(form.csrf, user) !== challenge) return "refused";
    if (passkeys.length >= maxPasskeys || passkeys.some(({ id }) => id === passkey.id)) return "refused";
    tx.put("users", { ...user, passkeys: [...passkeys, passkey], updatedAt: passkey.createdAt });
    return "done";
  });
}

/**
 * Removes a passkey. One that is gone already counts as removed.
 * @throws {InteractionError | OtherUserError}
 */
export const removePasskey = (
  ctx: Context,
  browser: Browser,
  form: { readonly csrf: string; readonly id: string },
): Promise<PasskeyChange> =>
  ctx.store.transaction((tx): PasskeyChange => {
    const live = deciding(tx, browser, form.csrf);
    if (live === null) return null;
    if (isLocked(ctx, live)) return "factor";
    const { passkeys = [], ...user } = live.user;
    const left = passkeys.filter(({ id }) => id !== form.id);
    if (left.length === passkeys.length) return "done";
    const updatedAt = new Date(ctx.now()).toISOString();
    tx.put("users", { ...user, ...(left.length > 0 && { passkeys: left }), updatedAt });
    return "done";
  });
