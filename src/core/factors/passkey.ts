import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type { Passkey, User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { parseJson } from "../../text/json.ts";
import { hashOf } from "../secrets.ts";
import { relyingParty } from "../step-up/relying-party.ts";

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
    allowCredentials: (user.passkeys ?? []).map(({ id, transports }) => ({ id, transports: known(transports) })),
  });
}

/** What `navigator.credentials.create` takes, as JSON. */
export async function creationOptions(ctx: Pick<Context, "address">, user: User, challenge: string): Promise<object> {
  const { generateRegistrationOptions } = await webauthn();
  return generateRegistrationOptions({
    rpID: relyingParty(ctx.address).id,
    rpName: "idp",
    userID: bytes(hashOf(user.id)),
    userName: user.username,
    userDisplayName: user.displayName,
    challenge: bytes(challenge),
    excludeCredentials: (user.passkeys ?? []).map(({ id, transports }) => ({ id, transports: known(transports) })),
  });
}

type Transports = NonNullable<RegistrationResponseJSON["response"]["transports"]>;
const known = (transports: readonly string[]): Transports => [...transports] as Transports;

/** A new passkey, from what the browser answered. @returns null if that is not genuine, or not for this page */
export async function readNewPasskey(
  ctx: Pick<Context, "address" | "now">,
  answer: unknown,
  challenge: string,
): Promise<Passkey | null> {
  const { verifyRegistrationResponse } = await webauthn();
  const { id, origin } = relyingParty(ctx.address);
  const verified = await verifyRegistrationResponse({
    response: answer as RegistrationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
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
  const { id, origin } = relyingParty(ctx.address);
  const verified = await verifyAuthenticationResponse({
    response: answer as AuthenticationResponseJSON,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: id,
    credential: { id: passkey.id, publicKey: bytes(passkey.publicKey), counter: passkey.counter },
    requireUserVerification: false,
  }).catch(() => null);
  return verified?.verified === true ? { ...passkey, counter: verified.authenticationInfo.newCounter } : null;
}

/** The answer of a browser, as the form has it. @returns null if it is not JSON */
export function parseAnswer(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
