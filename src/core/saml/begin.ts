import { begin } from "../protocol/authorize/authorize.ts";
import type { Context } from "../context.ts";
import { OAuthError } from "../base/errors.ts";
import { listClients } from "../records/fix-commands.ts";
import type { Browser } from "../sign-in/interactions.ts";
import type { StepResult } from "../sign-in/next-step.ts";
import { checkRelayState, refuseMessage } from "./message.ts";
import type { SamlRequest } from "./purpose.ts";
import { providerNamed, type Taken } from "./request.ts";

/** Where sign-ins by SAML begin: with a checked request, or here. */

/** Begins the sign-in of a checked request. @throws {SamlStatusError} sent to the service provider */
export const beginSaml = (ctx: Context, request: SamlRequest, browser: Browser): Promise<StepResult> =>
  begin(ctx, { kind: "saml", request }, browser, null);

/** A sign-in that begins here (SAML Profiles 4.1.5). @throws {OAuthError} shown to the person */
export async function startRequest(
  ctx: Context,
  entityId: string | undefined,
  relayState: string | undefined,
): Promise<Taken> {
  if (entityId === undefined)
    throw new OAuthError("invalid_request", "sp is missing: it names the service provider", {
      rule: "SAML Profiles 4.1.5",
      fix: listClients,
    });
  const { client, provider } = await providerNamed(ctx, entityId, null);
  if (!provider.unsolicited) {
    throw new OAuthError(
      "access_denied",
      `client "${entityId}" takes no sign-in that begins here (unsolicited: false)`,
      {
        // The choice of the operator.
        rule: null,
        fix: "begin the sign-in in the app, or set unsolicited to true for the client",
        status: 403,
      },
    );
  }
  const [acs] = provider.acs;
  if (acs === undefined)
    throw refuseMessage(`client "${client.client_id}" has no AssertionConsumerService`, "SAML Profiles 4.1.5");
  const remark = checkRelayState(relayState);
  const details = [
    { name: "sp", value: entityId },
    { name: "AssertionConsumerServiceURL", value: acs.url },
  ];
  const request: SamlRequest = {
    ...{ clientId: entityId, redirectUri: acs.url, id: null, relayState: relayState ?? null, uiLocales: null },
    ...{
      forceAuthn: false,
      isPassive: false,
      nameId: provider.nameid,
      context: null,
      loginHint: null,
      userId: null,
      details,
    },
  };
  return { request, remarks: remark === null ? [] : [remark] };
}
