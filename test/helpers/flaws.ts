import type { JSONWebKeySet } from "jose";
import type * as oauth from "oauth4webapi";
import { afterEach } from "vitest";
import type { FlawName } from "../../src/core/testing/controls/faults/flaw-list.ts";
import type { FaultInput } from "../../src/index.ts";
import { register, serve } from "./app.ts";

/** A server whose faults end with each test, and an app at it, for the tests of flaws. */
export async function serveFlaws() {
  const idp = await serve();
  const app = await register(idp, { userinfo_format: "standard" });
  const documentAt = async (path: string): Promise<unknown> => (await fetch(`${idp.issuer}${path}`)).json();
  const server = (await documentAt("/.well-known/openid-configuration")) as oauth.AuthorizationServer;
  afterEach(() => idp.faults.clear());
  return {
    idp,
    app,
    /** What discovery says, and the app, as oauth4webapi takes them. */
    server,
    client: (): oauth.Client => ({ client_id: app.credentials.client_id }),
    add: (endpoint: FaultInput["endpoint"], flaw: FlawName, more: Partial<FaultInput> = {}) =>
      idp.faults.add({ endpoint, flaw, ...more }),
    keysOf: async (): Promise<JSONWebKeySet> => (await documentAt("/api/v2/oauth/jwks")) as JSONWebKeySet,
  };
}
