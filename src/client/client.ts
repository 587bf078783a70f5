/*
 * client: an OAuth client that signs in to any provider, for `idp login`; app/ is a browser at an app, for `idp sign-in` and src/check. It imports
 * nothing of our server. browser.ts keeps cookies, walk.ts follows, fills in and submits; sign-in-without-browser.ts signs in for tests.
 */
import { Problem } from "./check.ts";
import type { Outgoing } from "./http.ts";
import type { Provider } from "./provider.ts";

/** The client that signs in, and how it proves who it is (RFC 6749 2.3). */

export interface OAuthClient {
  readonly id: string;
  /** Null for a public client. */
  readonly secret: string | null;
  /** The method that it registered; null if that is not known, so that the metadata decides. */
  readonly method: string | null;
}

const usable = ["client_secret_basic", "client_secret_post"];

/** @throws {Problem} if the provider accepts none of the methods of this client */
export function authMethodOf({ id, secret, method }: OAuthClient, { authMethods }: Provider): string {
  if (method === "none" || secret === null) return "none";
  const offered = method === null ? authMethods : [method];
  const chosen = usable.find((name) => offered.includes(name));
  if (chosen === undefined) {
    throw new Problem(
      `client "${id}" may authenticate with ${offered.join(", ")}; idp login supports only ${usable.join(", ")}`,
    );
  }
  return chosen;
}

/** RFC 6749 2.3.1: both are form-encoded before they are joined. */
const formEncoded = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1);

/** A form of the client to an endpoint where it authenticates. @throws {Problem} */
export function clientForm(
  url: string,
  parameters: Readonly<Record<string, string>>,
  client: OAuthClient,
  provider: Provider,
): Outgoing {
  const form = new URLSearchParams(parameters);
  const { id, secret } = client;
  const method = authMethodOf(client, provider);
  if (method === "client_secret_basic") {
    const credentials = Buffer.from(`${formEncoded(id)}:${formEncoded(secret ?? "")}`).toString("base64");
    return { method: "POST", url, form, headers: { authorization: `Basic ${credentials}` } };
  }
  form.set("client_id", id);
  if (method === "client_secret_post") form.set("client_secret", secret ?? "");
  return { method: "POST", url, form };
}
