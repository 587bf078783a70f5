import { expect } from "vitest";
import type { FixtureClient } from "../../src/core/protocol/client-metadata/schema.ts";
import { register, serve, type App } from "./app.ts";
import { jwtPart, paths, post, type Answer } from "./client.ts";
import { testClock } from "./clock.ts";

/** Token exchange (RFC 8693): a server, the client of a user, and two services that exchange its tokens. */

export const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
export const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";
export const aliceId = "7123456789012345678";
export const scope = "openid email orders:read orders:write";

/** Null leaves a parameter out, a list sends it more than once. */
export type Change = Readonly<Record<string, string | readonly string[] | null>>;

export const withActor = (token: string): Change => ({ actor_token: token, actor_token_type: accessTokenType });

export const claimsOf = ({ json }: Answer): Record<string, unknown> => jwtPart(json.access_token, 1);

/** Status, error, and that its description says why. */
export function expectRefusal({ status, json, headers }: Answer, error: string, why: RegExp): void {
  expect({ status, error: json.error }).toEqual({ status: 400, error });
  expect(json.error_description).toMatch(why);
  expect(headers.get("cache-control")).toBe("no-store");
}

/** The clock of the server is set by hand. */
export async function exchangeServer() {
  const clock = testClock();
  const idp = await serve({ now: clock.now });
  await idp.call("seed", { scopes: { "orders:read": {}, "orders:write": {} } });

  /** A service that may exchange tokens, and speak for itself. */
  const service = (metadata: Partial<FixtureClient> = {}): Promise<App> =>
    register(idp, { grant_types: [grantType, "client_credentials"], ...metadata });

  const front = await register(idp, { client_id: "front" });

  return {
    clock,
    idp,
    service,
    front,
    orders: await service({ client_id: "orders" }),
    stock: await service({ client_id: "stock" }),

    /** What an application of a user has: tokens for all of the scope. */
    tokensOf: (user = "alice", app: App = front) => idp.issueTokens({ user, client: app.credentials.client_id, scope }),

    /** The access token of a service that speaks for itself. */
    ownToken: async (by: App, proof: Record<string, string> = {}): Promise<string> => {
      const headers = { "content-type": "application/json", ...proof };
      return (await post(idp, paths.token, { grant_type: "client_credentials", ...by.credentials }, { headers })).json
        .access_token;
    },

    /** The response to a service that exchanges a subject token. */
    exchange: (
      by: App,
      token: string | null,
      change: Change = {},
      headers: Record<string, string> = {},
    ): Promise<Answer> => {
      const parameters: Change = {
        grant_type: grantType,
        subject_token: token,
        subject_token_type: accessTokenType,
        ...by.credentials,
        ...change,
      };
      const body = new URLSearchParams();
      for (const [name, values] of Object.entries(parameters))
        for (const value of [values ?? []].flat()) body.append(name, value);
      return post(idp, paths.token, {}, { headers, body });
    },
  };
}
