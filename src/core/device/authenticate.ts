import type { Client } from "../../store/store.ts";
import { authenticateClient, type Missing } from "../clients/authentication.ts";
import type { ClientCredentials } from "../clients/client-credentials.ts";
import type { Context } from "../context.ts";

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
