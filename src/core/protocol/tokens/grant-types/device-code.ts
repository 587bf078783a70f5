import type { Client, DeviceRequest, Tx } from "../../../../store/store.ts";
import type { Context } from "../../../context.ts";
import { OAuthError } from "../../../base/errors.ts";
import { namingIssuer, refuseOfOther } from "../../../records/issuers/issuer.ts";
import { settleTokens, type TokenPlan, type TokenResult } from "../settle.ts";
import { narrowResources } from "../../../records/scopes/resources.ts";
import { hashOf } from "../../../base/secrets.ts";
import { planTokens } from "../plan.ts";
import { grantType, type Values } from "./grant-type.ts";

/** The device's side of a device authorization (RFC 8628 3.4, 3.5): it polls until its user has decided. */

const parameters = { device_code: "secret", resource: "list" } as const;
type DevicePoll = Values<typeof parameters>;

export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

/** Seconds that are added to the interval of a device that polls too fast (RFC 8628 3.5). */
const slowDown = 5;

/** Milliseconds that a poll may come early: timers and networks are not exact. */
const tolerance = 1000;

/** @throws {OAuthError} of RFC 8628 3.5: authorization_pending, slow_down, access_denied, expired_token; invalid_grant */
async function pollDevice(
  ctx: Context,
  authenticated: Client,
  poll: DevicePoll,
  jkt: string | null,
): Promise<TokenResult> {
  const { device_code: deviceCode } = poll;
  if (deviceCode === undefined)
    throw new OAuthError("invalid_request", "device_code is missing", {
      rule: "RFC 8628 3.4",
      fix: "send the device_code of the device authorization response",
    });
  // Most refusals change the request as well: so they are returned, not thrown.
  return settleTokens(ctx, authenticated, (tx, client): TokenPlan | OAuthError => {
    const request = tx.get("deviceRequests", hashOf(deviceCode));
    if (request === undefined || request.clientId !== client.client_id) {
      return new OAuthError(
        "invalid_grant",
        "device_code is unknown, was issued to another client, or expired long ago: begin again",
        { rule: "RFC 6749 5.2", parameter: "device_code", fix: beginAgain },
      );
    }
    const refusal = refuseOfOther(ctx, request, "invalid_grant", "device_code");
    if (refusal !== null) return refusal;
    if (request.usableUntil <= ctx.now()) {
      return new OAuthError("expired_token", "device_code expired: begin again", {
        rule: "RFC 8628 3.5",
        parameter: "device_code",
        fix: beginAgain,
      });
    }
    return answer(tx, ctx, client, request, poll, jkt);
  }).catch(async (error: unknown) => {
    const id = hashOf(deviceCode);
    throw await namingIssuer(ctx, error, "device_code", (tx) => tx.get("deviceRequests", id) !== undefined);
  });
}

const beginAgain = "send a new device authorization request";

export const deviceCode = grantType({ name: deviceGrantType, parameters, needs: null, grant: pollDevice });

function answer(
  tx: Tx,
  ctx: Context,
  client: Client,
  request: DeviceRequest,
  poll: DevicePoll,
  jkt: string | null,
): TokenPlan | OAuthError {
  switch (request.status) {
    case "used":
      return new OAuthError("invalid_grant", "device_code was already used: begin again", {
        rule: "RFC 6749 5.2",
        parameter: "device_code",
        fix: beginAgain,
      });
    case "denied":
      return new OAuthError("access_denied", "The user denied the request", {
        rule: "RFC 8628 3.5",
        fix: "let the device say so, and begin again if the person wants to",
      });
    case "unmet":
      return new OAuthError(
        "unmet_authentication_requirements",
        `the user cannot meet acr_values '${request.acrValues.join(" ")}'`,
        { rule: "RFC 9470 5", fix: "ask for another acr, or let another user decide" },
      );
    case "waiting":
      return keepWaiting(tx, ctx, request);
    case "allowed":
      return redeem(tx, ctx, client, request, poll, jkt);
  }
}

function keepWaiting(tx: Tx, ctx: Context, request: DeviceRequest): OAuthError {
  const tooSoon = ctx.now() < request.nextPollAt - tolerance;
  const interval = tooSoon ? request.interval + slowDown : request.interval;
  tx.put("deviceRequests", { ...request, interval, nextPollAt: ctx.now() + interval * 1000 });
  return tooSoon
    ? new OAuthError("slow_down", `ask again in ${interval} s, and no faster from now on`, {
        rule: "RFC 8628 3.5",
        fix: null,
      })
    : new OAuthError("authorization_pending", `the user has not decided yet; ask again in ${interval} s`, {
        rule: "RFC 8628 3.5",
        fix: "open the verification_uri, and enter the user_code there",
      });
}

function redeem(
  tx: Tx,
  ctx: Context,
  client: Client,
  request: DeviceRequest,
  poll: DevicePoll,
  jkt: string | null,
): TokenPlan {
  const resources = narrowResources(ctx, request.resources, poll.resource);
  tx.put("deviceRequests", { ...request, status: "used" });
  const authentication = { authTime: request.authTime, amr: request.amr, acr: request.acr, sid: request.sid };
  const { scopes, resources: refreshResources } = request;
  const approved = { approval: request.grant, what: "device_code", authentication };
  return planTokens(tx, ctx, client, approved, { scopes, resources, refreshResources, jkt });
}
