import type { Client, Tx } from "../../../../store/store.ts";
import type { Context } from "../../../context.ts";
import { checkResources } from "../../../records/scopes/resources.ts";
import { resolveScopes } from "../../../records/scopes/scopes.ts";
import type { AccessTokenSubject } from "../claims.ts";
import { planSubject } from "../plan.ts";
import { settleAccessToken } from "../settle.ts";
import { grantType } from "./grant-type.ts";

/** The grant `client_credentials` (RFC 6749 4.4): the client speaks for itself. No ID token, no refresh token. */

export const clientCredentials = grantType({
  name: "client_credentials",
  parameters: { scope: "open", resource: "list" },
  needs: { what: "authentication", rule: "RFC 6749 4.4" },
  grant: (ctx, authenticated, request, jkt) => {
    const { scope, named } = ofDefaultScope(ctx, request);
    const resources = [...new Set([...checkResources(ctx, request.resource), ...named])];
    return settleAccessToken(ctx, authenticated, (tx, client) => ({
      subject: planForClient(tx, ctx, client, { scope, resources, jkt }),
      authentication: null,
    }));
  },
});

/**
 * Entra's `RESOURCE/.default` stands for all that the client registered, at that resource: a URI without a fragment, the id of an application
 * or its name.
 */
function ofDefaultScope(
  { layout }: Context,
  { scope }: { readonly scope?: string | undefined },
): { readonly scope?: string | undefined; readonly named: readonly string[] } {
  const [, named] = /^([^\s#"\\]+)\/\.default$/.exec(scope ?? "") ?? [];
  return layout.defaultScope !== true || named === undefined ? { scope, named: [] } : { named: [named] };
}

/**
 * Plans the token of a client that speaks for itself.
 * @param asked `scope`: absent, all that the client registered
 */
export function planForClient(
  tx: Tx,
  ctx: Context,
  client: Client,
  asked: { readonly scope: string | undefined; readonly resources: readonly string[]; readonly jkt: string | null },
): AccessTokenSubject {
  const scope = asked.scope ?? client.scope;
  const scopes = scope === undefined ? [] : resolveScopes(tx, ctx, client, scope).scopes;
  return planSubject(tx, ctx, client, null, { ...asked, scopes });
}
