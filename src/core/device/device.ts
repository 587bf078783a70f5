/*
 * core/device: device authorization (RFC 8628). The device shows a code; its user types it in here and decides. The device's polling is a
 * grant type (core/tokens/grant-types/device-code.ts).
 */
import type { Client, DeviceRequest, ReadTx, Tx, User } from "../../store/store.ts";
import { csrfOf } from "../account/account.ts";
import { userCodeLimits } from "../attempts.ts";
import { clientName, mayUse, type ClientName } from "../clients/clients.ts";
import type { Context } from "../context.ts";
import { baseOf } from "../endpoints.ts";
import { OAuthError } from "../errors.ts";
import { recordGrant } from "../grants/grants.ts";
import type { Browser } from "../sign-in/interactions.ts";
import { requireUserForm } from "../sign-in/user-form.ts";
import { checkLength } from "../authorize/request-length.ts";
import { checkResources } from "../authorize/resources.ts";
import { namedScopes, type NamedScope } from "../consent/scope-display.ts";
import { mayAsk, resolveScopes } from "../scopes/scopes.ts";
import { hashOf } from "../secrets.ts";
import { liveSession, type LiveSession } from "../sessions/sessions.ts";

export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

/** Seconds. */
const deviceCodeTtl = 600;
const pollInterval = 5;
/** How long (milliseconds) an expired code is still known as expired. */
const expiredMemory = 3_600_000;

/** No vowels, so that no words appear (RFC 8628 6.1), and no letter that Turkish has with and without a dot. */
const alphabet = "BCDFGHJKLMNPQRSTVWXZ";
const userCodeLength = 8;

/** The path of the page for users, below the issuer. */
export const devicePath = "/device";

export interface DeviceAnswer {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  /** Seconds. */
  readonly expires_in: number;
  readonly interval: number;
  /** For the user. */
  readonly message?: string;
}

function drawUserCode(ctx: Context): string {
  let code = "";
  while (code.length < userCodeLength) {
    for (const byte of Buffer.from(ctx.random(userCodeLength * 2), "base64url")) {
      // Each letter is equally likely: bytes from 240 on are dropped, because 256 is not a multiple of 20.
      if (byte < 240 && code.length < userCodeLength) code += alphabet.charAt(byte % alphabet.length);
    }
  }
  return code;
}

/** The code as it is shown: four letters, a dash, four letters. */
const shownCode = (userCode: string): string => `${userCode.slice(0, 4)}-${userCode.slice(4)}`;

/** The code as it is compared: only letters count. ASCII only: in Turkish, the capital of i is not I. */
export const typedCode = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()).replaceAll(/[^A-Z]/g, "");

/**
 * Begins a device authorization (RFC 8628 3.1).
 * @throws {OAuthError} unauthorized_client, invalid_scope, invalid_target
 */
export function beginDevice(
  ctx: Context,
  client: Client,
  request: { readonly scope: string | undefined; readonly resource: readonly string[] },
): Promise<DeviceAnswer> {
  if (!mayUse(client, deviceGrantType)) {
    throw new OAuthError(
      "unauthorized_client",
      `client "${client.client_id}" may not use the device flow: its grant_types lack "${deviceGrantType}"`,
    );
  }
  checkLength([request.scope, ...request.resource]);
  const resources = checkResources(request.resource);
  return ctx.store.transaction((tx) => {
    const { scopes } = resolveScopes(tx, client, request.scope);
    const deviceCode = ctx.random(32);
    let userCode = drawUserCode(ctx);
    while (tx.find("deviceRequests", "userCode", userCode) !== undefined) userCode = drawUserCode(ctx);
    tx.insert("deviceRequests", {
      id: hashOf(deviceCode),
      issuerPath: ctx.layout.issuer,
      userCode,
      clientId: client.client_id,
      scopes,
      resources,
      status: "waiting",
      grant: null,
      authTime: 0,
      amr: [],
      sid: null,
      nextPollAt: 0,
      interval: pollInterval,
      usableUntil: ctx.now() + deviceCodeTtl * 1000,
      expiresAt: ctx.now() + deviceCodeTtl * 1000 + expiredMemory,
    });
    const uri = baseOf(ctx.address) + devicePath;
    return {
      device_code: deviceCode,
      user_code: shownCode(userCode),
      verification_uri: uri,
      verification_uri_complete: `${uri}?user_code=${shownCode(userCode)}`,
      expires_in: deviceCodeTtl,
      interval: pollInterval,
      ...(ctx.layout.deviceMessage && { message: `To sign in, open ${uri} and enter the code ${shownCode(userCode)}` }),
    };
  });
}

/** Why the user cannot decide on the code that was typed. */
type Unusable = "invalid" | "expired" | "used";

/** What the page for users shows. */
export type DevicePage =
  | { readonly state: "enter" | Unusable; readonly csrf: string; readonly user: User }
  | {
      readonly state: "confirm";
      readonly csrf: string;
      readonly userCode: string;
      /** ISO 8601. */
      readonly usableUntil: string;
      readonly client: { readonly id: string; readonly name: ClientName };
      readonly scopes: readonly NamedScope[];
      readonly username: string;
      readonly user: User;
    };

/** What the limit counts, as its refusal says it: wrong user codes (RFC 8628 5.1). */
const guesses = "wrong codes";

function findWaiting(tx: ReadTx, ctx: Context, typed: string): DeviceRequest | Unusable {
  const request = tx.find("deviceRequests", "userCode", typedCode(typed));
  if (request === undefined) return "invalid";
  if (request.status !== "waiting") return "used";
  return request.usableUntil <= ctx.now() ? "expired" : request;
}

/** The client, and the scopes it may ask for now: it may have changed since the device began. Null: none. */
function askedNow(tx: ReadTx, request: DeviceRequest): { client: Client; scopes: readonly string[] } | null {
  const client = tx.get("clients", request.clientId);
  if (client === undefined) return null;
  const scopes = request.scopes.filter((name) => mayAsk(client, name));
  return scopes.length === 0 ? null : { client, scopes };
}

/** @returns null if nobody is signed in @throws {OAuthError} too_many_requests */
export async function showDevice(
  ctx: Context,
  browser: Browser,
  typed: string | undefined,
): Promise<DevicePage | null> {
  const page = await ctx.store.read((tx) => pageFor(tx, ctx, browser, typed));
  if (page !== null && typed !== undefined) {
    const limits = userCodeLimits(page.user.id, browser.address);
    ctx.attempts.check(guesses, limits, () => page.state !== "invalid");
  }
  return page;
}

function pageFor(tx: ReadTx, ctx: Context, browser: Browser, typed: string | undefined): DevicePage | null {
  const live = liveSession(tx, browser.session);
  if (live === null) return null;
  const csrf = csrfOf(browser, live);
  const { user } = live;
  if (typed === undefined) return { state: "enter", csrf, user };
  const found = findWaiting(tx, ctx, typed);
  if (typeof found === "string") return { state: found, csrf, user };
  const asked = askedNow(tx, found);
  if (asked === null) return { state: "invalid", csrf, user };
  const { client, scopes } = asked;
  return {
    state: "confirm",
    csrf,
    userCode: shownCode(found.userCode),
    usableUntil: new Date(found.usableUntil).toISOString(),
    client: { id: client.client_id, name: clientName(client) },
    scopes: namedScopes(tx, scopes),
    username: user.username,
    user,
  };
}

export interface DeviceDecision {
  readonly csrf: string;
  readonly userCode: string;
  readonly decision: "allow" | "deny";
}

/**
 * Handles the decision of the user, once.
 * @returns the outcome; null if nobody is signed in
 * @throws {InteractionError | OtherUserError}; {OAuthError} too_many_requests
 */
export async function decideDevice(
  ctx: Context,
  browser: Browser,
  form: DeviceDecision,
): Promise<"allowed" | "denied" | Unusable | null> {
  const guesser = await ctx.store.read((tx) => deciding(tx, browser, form));
  if (guesser === null) return null;
  // Before it is known whether the guess is right, and outside the transaction, which may run twice.
  const wasRight = ctx.attempts.begin(guesses, userCodeLimits(guesser.user.id, browser.address));
  const result = await ctx.store.transaction((tx) => decide(tx, ctx, browser, form));
  if (result !== "invalid") wasRight();
  return result;
}

/** @throws {InteractionError | OtherUserError} */
function deciding(tx: ReadTx, browser: Browser, form: DeviceDecision): LiveSession | null {
  const live = liveSession(tx, browser.session);
  if (live !== null) requireUserForm(form.csrf, csrfOf(browser, live), live.user.username);
  return live;
}

function decide(tx: Tx, ctx: Context, browser: Browser, form: DeviceDecision): "allowed" | "denied" | Unusable | null {
  const live = deciding(tx, browser, form);
  if (live === null) return null;
  const { user, session } = live;
  const request = findWaiting(tx, ctx, form.userCode);
  if (typeof request === "string") return request;
  const asked = askedNow(tx, request);
  if (asked === null) return "invalid";
  if (form.decision === "deny") {
    tx.put("deviceRequests", { ...request, status: "denied" });
    return "denied";
  }
  const { client, scopes } = asked;
  const grant = recordGrant(tx, ctx, { user, client, asked: scopes, allowed: scopes, by: "user" });
  tx.put("deviceRequests", {
    ...request,
    scopes,
    status: "allowed",
    grant: { userId: user.id, grantId: grant.id, epoch: grant.epoch },
    authTime: session.authTime,
    amr: session.amr,
    sid: session.sid,
  });
  return "allowed";
}
