import { begin } from "../authorize/authorize.ts";
import type { Context } from "../context.ts";
import { OAuthError } from "../errors.ts";
import { listClients } from "../fix-commands.ts";
import { hashOf } from "../secrets.ts";
import { newInteraction, waitingTtl, type Browser } from "../sign-in/interactions.ts";
import type { StepResult } from "../sign-in/next-step.ts";
import { checkRelayState, notWaiting, refuseMessage, requireSmall, type Brought } from "./message.ts";
import type { SamlRequest } from "./purpose.ts";
import { providerNamed, takeRequest, type Taken } from "./request.ts";

/** Where sign-ins by SAML begin: with a checked request, with one that was kept, or here. */

/** Begins the sign-in of a checked request. @throws {SamlStatusError} sent to the service provider */
export const beginSaml = (ctx: Context, request: SamlRequest, browser: Browser): Promise<StepResult> =>
  begin(ctx, { kind: "saml", request }, browser, null);

/** A request that came by a cross-site POST, without cookies: it waits, as it was sent, for the same browser to come with them. */
interface KeptRequest {
  readonly kind: "saml-kept";
  readonly clientId: string;
  readonly brought: Brought;
}

/** Keeps a request. @param taken what it says, which is checked again when it is used @returns its name */
export const keepRequest = (ctx: Context, brought: Brought, { request }: Taken, browser: Browser): Promise<string> => {
  const purpose: KeptRequest = requireSmall({
    kind: "saml-kept",
    clientId: request.clientId,
    brought: { ...brought, query: "" },
  });
  return ctx.store.transaction((tx) => {
    // No browser has this id, so no page of a sign-in is found by its name.
    const interaction = {
      ...newInteraction(ctx, { kind: "saml", request }, { ...browser, id: null }),
      browser: hashOf(`kept ${ctx.random(16)}`),
      expiresAt: ctx.now() + waitingTtl,
    };
    tx.insert("interactions", { ...interaction, purpose });
    return interaction.uid;
  });
};

/** A request that was kept: its certificate and its provider count as they are now. @throws {OAuthError} if there is none of this name any more */
export async function keptRequest(ctx: Context, uid: string): Promise<Taken> {
  const brought = await ctx.store.read((tx) => {
    const kept = tx.get("interactions", uid);
    const record = kept?.purpose as KeptRequest | undefined;
    if (kept === undefined || record?.kind !== "saml-kept" || kept.expiresAt <= ctx.now()) throw notWaiting();
    return record.brought;
  });
  return takeRequest(ctx, brought, () => undefined);
}

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

/** The service provider of a request that was kept; null: there is none of this name. */
export const keptSender = (ctx: Context, uid: string): Promise<string | null> =>
  ctx.store.read((tx) => {
    const record = tx.get("interactions", uid)?.purpose as KeptRequest | undefined;
    return record?.kind === "saml-kept" ? record.clientId : null;
  });
