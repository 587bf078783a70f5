/*
 * core/protocol/device: device authorization (RFC 8628). begin.ts gives the device its codes; in device.ts its user types one in and decides. The
 * device's polling is a grant type (core/protocol/tokens/grant-types/device-code.ts).
 */
import type { Client, DeviceRequest, ReadTx, Tx, User } from "../../../store/store.ts";
import { userCodeLimits } from "../../base/attempts.ts";
import { clientName, type ClientName } from "../../records/clients/clients.ts";
import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { metOf, authenticationInfoOf } from "../../records/step-up/acr.ts";
import { sessionStrength } from "../../sign-in/needs.ts";
import { recordGrant } from "../../sign-in/grants/grants.ts";
import type { Browser } from "../../sign-in/interactions.ts";
import { requireUserForm, csrfOf } from "../../sign-in/user-form.ts";
import { shownCode } from "./begin.ts";
import { namedScopes, type NamedScope } from "../../sign-in/consent/consent.ts";
import { mayAsk } from "../../records/scopes/scopes.ts";
import { liveSession, type LiveSession } from "../../sign-in/sessions/sessions.ts";

/** The code as it is compared: only letters count. ASCII only: in Turkish, the capital of i is not I. */
export const typedCode = (text: string): string =>
  text.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase()).replaceAll(/[^A-Z]/g, "");

/** Why the user cannot decide on the code that was typed. */
type Unusable = "invalid" | "expired" | "used";

/** What the page for users shows. */
type DevicePage =
  | { readonly state: "enter" | Unusable; readonly csrf: string; readonly user: User }
  /** The user has to prove more first, as the device asked. */
  | { readonly state: "factor"; readonly acr: readonly string[]; readonly user: User }
  | {
      readonly state: "confirm";
      readonly csrf: string;
      readonly userCode: string;
      /** ISO 8601. */
      readonly usableUntil: string;
      readonly client: { readonly id: string; readonly name: ClientName };
      /** The URL of its metadata, where nobody registered it; else null. */
      readonly documentUrl: string | null;
      readonly scopes: readonly NamedScope[];
      readonly username: string;
      readonly user: User;
    };

/** The attempts that the limit counts, as its refusal words them: wrong user codes (RFC 8628 5.1). */
const guesses = "wrong codes";

function findWaiting(tx: ReadTx, ctx: Context, typed: string): DeviceRequest | Unusable {
  const request = tx.find("deviceRequests", "userCode", typedCode(typed));
  if (request === undefined) return "invalid";
  if (request.status !== "waiting") return "used";
  return request.usableUntil <= ctx.now() ? "expired" : request;
}

/** The client, and the scopes it may ask for now: it may have changed since the device began. Null: none. */
function askedNow(tx: ReadTx, request: DeviceRequest): { client: Client; scopes: readonly string[] } | null {
  const client = request.document ?? tx.get("clients", request.clientId);
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
  if (sessionStrength(ctx, found.acrValues, live) === "factor") return { state: "factor", acr: found.acrValues, user };
  return {
    state: "confirm",
    csrf,
    userCode: shownCode(found.userCode),
    usableUntil: new Date(found.usableUntil).toISOString(),
    client: { id: client.client_id, name: clientName(client) },
    documentUrl: client.fromDocument === true ? client.client_id : null,
    scopes: namedScopes(tx, scopes),
    username: user.username,
    user,
  };
}

/** `factor`: the user has to prove more first. */
type Decided = "allowed" | "denied" | "factor" | Unusable;

interface DeviceDecision {
  readonly csrf: string;
  readonly userCode: string;
  readonly decision: "allow" | "deny";
}

/**
 * Handles the decision of the user, once.
 * @returns the outcome; null if nobody is signed in
 * @throws {InteractionError | OtherUserError}; {OAuthError} too_many_requests
 */
export async function decideDevice(ctx: Context, browser: Browser, form: DeviceDecision): Promise<Decided | null> {
  const guesser = await ctx.store.read((tx) => deciding(tx, browser, form));
  if (guesser === null) return null;
  // Before it is known whether the guess is right, and outside the transaction, which may run twice.
  const wasRight = ctx.attempts.begin(guesses, userCodeLimits(guesser.user.id, browser.address));
  const result = await ctx.store.transaction((tx) => decide(tx, ctx, browser, form));
  if (result !== "invalid") wasRight();
  if (result === "unmet") {
    const why = `${guesser.user.username} cannot meet the acr_values that the device asked for`;
    throw new OAuthError("unmet_authentication_requirements", why, {
      rule: "RFC 9470 5",
      fix: { text: "To see what the user has", command: ["idp", "users", "show", guesser.user.username] },
    });
  }
  return result;
}

/** @throws {InteractionError | OtherUserError} */
function deciding(tx: ReadTx, browser: Browser, form: DeviceDecision): LiveSession | null {
  const live = liveSession(tx, browser.session);
  if (live !== null) requireUserForm(form.csrf, csrfOf(browser, live), live.user.username);
  return live;
}

function decide(tx: Tx, ctx: Context, browser: Browser, form: DeviceDecision): Decided | "unmet" | null {
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
  const strength = sessionStrength(ctx, request.acrValues, live);
  if (strength === "factor") return "factor";
  if (strength === "unmet") {
    tx.put("deviceRequests", { ...request, status: "unmet" });
    return "unmet";
  }
  const { client, scopes } = asked;
  const grant = recordGrant(tx, ctx, { user, client, asked: scopes, allowed: scopes, by: "user" });
  tx.put("deviceRequests", {
    ...request,
    scopes,
    status: "allowed",
    grant: { userId: user.id, grantId: grant.id, epoch: grant.epoch },
    ...authenticationInfoOf(ctx, metOf(session), request.acrValues),
    sid: session.sid,
  });
  return "allowed";
}
