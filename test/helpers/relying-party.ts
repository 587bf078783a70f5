import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import express, { type Express } from "express";
import { afterAll } from "vitest";
import { atEnd } from "./at-end.ts";
import { newFolder, startIdp, type RunningIdp } from "./cli.ts";

/** Client applications with pages of their own, for the flow tests. */

export interface RelyingParty {
  readonly app: Express;
  /** Where it is reached, without a trailing slash. */
  readonly url: string;
}

/** An application that listens on a free port and has no routes yet: they may depend on its address. */
export async function startRelyingParty(): Promise<RelyingParty> {
  const app = express();
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  return { app, url: `http://localhost:${(server.address() as AddressInfo).port}` };
}

export const relyingPartySecret = "the-secret-of-the-app-under-test";

/** A spawned `idp start` that knows alice and bob, and one client, `app`, with these redirect URIs. @returns cwd: where it was started */
export async function startIdpFor(
  redirectUris: readonly string[],
  client: Readonly<Record<string, unknown>> = {},
  flags: readonly string[] = [],
): Promise<RunningIdp & { readonly cwd: string }> {
  const cwd = newFolder(afterAll);
  const app = { client_id: "app", client_secret: relyingPartySecret, redirect_uris: redirectUris, ...client };
  const alice = {
    username: "alice",
    id: "7123456789012345678",
    displayName: "Alice Adams",
    email: "alice@example.com",
  };
  writeFileSync(
    join(cwd, "idp.fixtures.json"),
    JSON.stringify({ users: [alice, { username: "bob" }], clients: [app] }),
  );
  return { ...(await startIdp(flags, { cwd }, afterAll)), cwd };
}
