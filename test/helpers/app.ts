import { builtInDemo } from "../../src/serve/fixture-files.ts";
import type { FixtureClient } from "../../src/core/protocol/client-metadata/schema.ts";
import type { FixtureUser } from "../../src/core/records/users/schema.ts";
import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";
import { createInstances } from "./as-instances.ts";
import { atEnd } from "./at-end.ts";
import { testInstances } from "./runs.ts";
import {
  authorizeUrl,
  callback,
  exchange,
  refresh,
  signIn,
  type Answer,
  type Body,
  type Change,
  type Parameters,
  type Signed,
} from "./client.ts";

/**
 * A server in memory on a free port, with the demo unless told otherwise. Mostly one for all tests of a file, each of which brings a client
 * of its own, and users where they matter; begun inside a test, it ends with it.
 */
export async function serve(options: IdpOptions = {}): Promise<Idp> {
  const asOne = testInstances === 1 || options.data !== undefined || options.tls !== undefined;
  const idp = await (asOne ? createIdp : createInstances)({ port: 0, fixtures: [builtInDemo()], ...options });
  atEnd(() => idp.close());
  return idp;
}

/** A client application: the requests of `client.ts`, sent as this client. */
export interface App {
  /** `client_id` and `client_secret`, as a body has them. */
  readonly credentials: { readonly client_id: string; readonly client_secret: string | null };
  readonly url: (change?: Parameters) => string;
  readonly signIn: (change?: Change) => Promise<Signed>;
  readonly exchange: (code: string, change?: Parameters) => Promise<Answer>;
  readonly refresh: (token: string, change?: Parameters) => Promise<Answer>;
  /** Signs in, allows everything, and redeems the code. */
  readonly tokens: (change?: Change) => Promise<Body>;
}

let count = 0;

/** A client without grants; it has a secret unless its method needs none. */
export async function register(idp: Idp, metadata: Partial<FixtureClient> = {}): Promise<App> {
  const client_id = metadata.client_id ?? `app-${(count += 1)}`;
  const method = metadata.token_endpoint_auth_method;
  const made = method === "none" || method === "private_key_jwt" ? null : `secret of ${client_id}, long enough`;
  const client_secret = metadata.client_secret ?? made;
  const secret = client_secret === null ? {} : { client_secret };
  await idp.call("seed", { clients: [{ client_id, redirect_uris: [callback], ...secret, ...metadata }] });
  const credentials = { client_id, client_secret };
  const app: App = {
    credentials,
    url: (change) => authorizeUrl(idp, { client_id, ...change }),
    signIn: (change) => signIn(idp, { client_id, ...change }),
    exchange: (code, change) => exchange(idp, code, { ...credentials, ...change }),
    refresh: (token, change) => refresh(idp, token, { ...credentials, ...change }),
    tokens: async (change) => (await app.exchange((await app.signIn(change)).code)).json,
  };
  return app;
}

/** A user of one test's own. @returns the username */
export async function enroll(idp: Idp, fields: Partial<FixtureUser> = {}): Promise<string> {
  const username = fields.username ?? `user-${(count += 1)}`;
  await idp.call("seed", { users: [{ username, ...fields }] });
  return username;
}
