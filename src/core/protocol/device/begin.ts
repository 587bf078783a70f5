import { singleFactor } from "../../records/step-up/proofs.ts";
import type { Client } from "../../../store/store.ts";
import { checkLength } from "../authorize/parameters.ts";
import { checkResources } from "../../records/scopes/resources.ts";
import { grantTypesOf, isPublic, mayUse } from "../../records/clients/clients.ts";
import { sourceOf } from "../../sign-in/interactions.ts";
import type { Context } from "../../context.ts";
import { baseOf, devicePath } from "../../base/endpoints.ts";
import { OAuthError } from "../../base/errors.ts";
import { acrValuesOf } from "../../records/step-up/acr.ts";
import { addGrantType } from "../../records/fix-commands.ts";
import { impliedScope, resolveScopes } from "../../records/scopes/scopes.ts";
import { deviceGrantType } from "../tokens/grant-types/device-code.ts";
import { hashOf } from "../../base/secrets.ts";
import { authenticateClient, type Missing } from "../../records/clients/authentication.ts";
import type { ClientCredentials } from "../../records/clients/client-credentials.ts";

/** The device's side (RFC 8628 3.1, 3.2): it gets a code for itself and one for its user. */

/** Seconds. */
const deviceCodeTtl = 600;
const pollInterval = 5;
/** How long (milliseconds) an expired code is still known as expired. */
const expiredMemory = 3_600_000;

/** No vowels, so that no words appear (RFC 8628 6.1), and no letter that Turkish has with and without a dot. */
const alphabet = "BCDFGHJKLMNPQRSTVWXZ";
const userCodeLength = 8;

interface DeviceAnswer {
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
export const shownCode = (userCode: string): string => `${userCode.slice(0, 4)}-${userCode.slice(4)}`;

/**
 * Begins a device authorization (RFC 8628 3.1).
 * @throws {OAuthError} unauthorized_client, invalid_scope, invalid_target
 */
export function beginDevice(
  ctx: Context,
  client: Client,
  request: {
    readonly scope: string | undefined;
    readonly resource: readonly string[];
    readonly acr_values?: string | undefined;
    /** Of who sent it. */
    readonly address: string;
  },
): Promise<DeviceAnswer> {
  if (!mayUse(client, deviceGrantType)) {
    throw new OAuthError(
      "unauthorized_client",
      `client "${client.client_id}" may not use the device flow: its grant_types lack "${deviceGrantType}"`,
      { rule: "RFC 8628 3.2", fix: addGrantType(client, grantTypesOf(client), deviceGrantType) },
    );
  }
  checkLength([request.scope, request.acr_values, ...request.resource]);
  const resources = checkResources(ctx, request.resource);
  return ctx.store.transaction((tx) => {
    const { scopes } = resolveScopes(tx, ctx, client, impliedScope(ctx, client, request.scope));
    const deviceCode = ctx.random(32);
    let userCode = drawUserCode(ctx);
    while (tx.find("deviceRequests", "userCode", userCode) !== undefined) userCode = drawUserCode(ctx);
    tx.insert("deviceRequests", {
      id: hashOf(deviceCode),
      issuerPath: ctx.layout.issuer,
      userCode,
      clientId: client.client_id,
      ...(client.fromDocument && { document: client }),
      scopes,
      resources,
      status: "waiting",
      grant: null,
      acrValues: acrValuesOf(client, request.acr_values),
      authTime: 0,
      acr: singleFactor,
      amr: [],
      sid: null,
      nextPollAt: 0,
      interval: pollInterval,
      usableUntil: ctx.now() + deviceCodeTtl * 1000,
      expiresAt: ctx.now() + deviceCodeTtl * 1000 + expiredMemory,
      ...(isPublic(client) && { from: sourceOf(request) }),
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

/** Libraries send a device request with `client_id` alone, also for a client with a secret (RFC 8628 3.1; RFC 6749 3.2.1). */
const missingSecret: Missing = (allowed) => {
  const withGo = 'oauth2.SetAuthURLParam("client_secret", config.ClientSecret)';
  if (allowed.includes("client_secret_post")) {
    return `: add client_secret to the body. Go's x/oauth2 sends it with config.DeviceAuth(ctx, ${withGo})`;
  }
  return allowed.includes("client_secret_basic")
    ? `: add the header. Go's x/oauth2 cannot send it here: register token_endpoint_auth_method "client_secret_post", and call config.DeviceAuth(ctx, ${withGo})`
    : "";
};

/** The client that asks for a device code. @throws {OAuthError} as {@link authenticateClient} */
export const authenticateDevice = (ctx: Context, credentials: ClientCredentials): Promise<Client> =>
  authenticateClient(ctx, credentials, missingSecret);
