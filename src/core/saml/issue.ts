import { requireClient } from "../records/clients/admin.ts";
import type { Context } from "../context.ts";
import { OAuthError, OperationError } from "../base/errors.ts";
import { authenticationInfoFor } from "../sign-in/factors/admin.ts";
import { addServiceProvider, restoreUser, showClient } from "../records/fix-commands.ts";
import { nameIdOf, serviceProvider } from "../records/service-providers/provider.ts";
import { pickedAuthenticationInfo } from "../protocol/tokens/issue.ts";
import { userRefusal } from "../protocol/tokens/state.ts";
import { requireUser } from "../records/users/users.ts";
import { isUsualClass, reportedClass } from "./authn-context.ts";
import { SamlStatusError, withoutName, type SamlRequest } from "./purpose.ts";
import { respond } from "./response.ts";

/** A response for a service provider without a browser, under the same rules. */

interface IssueSamlInput {
  /** Username. */
  readonly user: string;
  /** The entityID. */
  readonly client: string;
  /** Absent: the first registered address. */
  readonly acs?: string | undefined;
  /** Absent: unsolicited. */
  readonly in_response_to?: string | undefined;
  readonly relay_state?: string | undefined;
  /** As if the user had met this value. */
  readonly acr?: string | undefined;
}

export interface IssuedSaml {
  readonly acs: string;
  /** The response as it is posted, in base64. */
  readonly SAMLResponse: string;
  /** Null: none was given. */
  readonly RelayState: string | null;
  /** Seconds. */
  readonly expires_in: number;
}

/** @throws {OperationError} not_found, refused */
export async function issueSaml(ctx: Context, input: IssueSamlInput): Promise<IssuedSaml> {
  const { user, client } = await ctx.store.read((tx) => ({
    user: requireUser(tx, input.user),
    client: requireClient(tx, input.client),
  }));
  const provider = await serviceProvider(client);
  if (provider === null) {
    throw new OperationError(
      "refused",
      `client "${client.client_id}" is not a service provider of SAML: it has no saml`,
      {
        hint: showClient(client),
      },
    );
  }
  const refusal = userRefusal(user);
  if (refusal !== null) {
    throw new OperationError("refused", refusal.detail, { hint: { ...restoreUser(user), text: "To restore" } });
  }
  const acs = input.acs ?? provider.acs[0]?.url ?? "";
  if (!provider.acs.some(({ url }) => url === acs)) {
    const registered = provider.acs.map(({ url }) => url).join("  ");
    throw new OperationError(
      "refused",
      `acs "${acs}" is not registered for "${client.client_id}"; registered: ${registered}`,
      {
        hint: addServiceProvider(client.client_id, acs, true) ?? showClient(client),
      },
    );
  }
  const isUsual = input.acr !== undefined && isUsualClass(input.acr);
  const authentication =
    input.acr === undefined || isUsual ? pickedAuthenticationInfo(ctx) : authenticationInfoFor(ctx, user, input.acr);
  const request: SamlRequest = {
    clientId: client.client_id,
    redirectUri: acs,
    id: input.in_response_to ?? null,
    relayState: input.relay_state ?? null,
    uiLocales: null,
    forceAuthn: false,
    isPassive: false,
    nameId: provider.nameid,
    context: null,
    loginHint: null,
    userId: null,
    details: [],
  };
  return asOperation(async () => {
    const nameId = nameIdOf(ctx, { kind: provider.nameid, entityId: client.client_id }, user);
    if (nameId === null) throw withoutName(request, user.username);
    const post = await respond(ctx, {
      request,
      userId: user.id,
      nameId,
      sessionIndex: `s_${ctx.random(16)}`,
      authTime: authentication.authTime,
      sessionEnds: authentication.authTime + ctx.settings.session_ttl,
      contextClass: isUsual ? (input.acr ?? "") : reportedClass([], authentication.acr),
      amr: authentication.amr,
      byPicker: false,
    });
    const [[, SAMLResponse] = ["", ""]] = post.parameters;
    return {
      acs,
      SAMLResponse,
      RelayState: input.relay_state ?? null,
      expires_in: provider.assertionTtl,
    };
  });
}

/** The refusals of the protocol, in the words of an operation. */
async function asOperation<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const guidance = error instanceof SamlStatusError ? error.guidance : error instanceof OAuthError ? error : null;
    if (guidance === null) throw error;
    throw new OperationError("refused", (error as Error).message, {
      cause: error,
      ...(guidance.fix !== null && { hint: guidance.fix }),
    });
  }
}
