import express from "express";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, expect } from "vitest";
import type { Library } from "../../src/cli/commands/env/choices.ts";
import { sharedChromium } from "./chromium.ts";
import { idp, newFolder, startIdp } from "./cli.ts";
import { repository } from "./readme.ts";
import { startRelyingParty } from "./relying-party.ts";

/** An application of one static page, which loads a library from node_modules and what `idp env --for` prints as `/config.js`. */
export interface SinglePageApp {
  readonly url: string;
  readonly issuer: string;
  /** The folder that the server runs in. */
  readonly cwd: string;
}

/**
 * Starts the application, and a server that knows it as a public client.
 * @param scripts the script tags of its page
 * @param flags of `idp start`
 */
export async function startSinglePageApp(
  library: Library,
  scripts: string,
  flags: readonly string[] = [],
): Promise<SinglePageApp> {
  const { app, url } = await startRelyingParty();
  const cwd = newFolder(afterAll);
  const client = { client_id: "spa", redirect_uris: [`${url}/callback`], post_logout_redirect_uris: [`${url}/`] };
  const alice = { username: "alice", displayName: "Alice Adams", email: "alice@example.com" };
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [alice], clients: [client] }));
  const { issuer } = await startIdp(flags, { cwd }, afterAll);
  const printed = await idp(["env", "--for", library], { cwd });
  expect(printed, printed.stderr).toMatchObject({ code: 0, stderr: "" });
  app.use("/node_modules", express.static(join(repository, "node_modules")));
  app.get("/config.js", (_req, res) => {
    res.type("text/javascript").send(printed.stdout);
  });
  app.use((_req, res) => {
    res.send(`<!doctype html><meta charset="utf-8"><title>App</title><link rel="icon" href="data:,">${scripts}`);
  });
  return { url, issuer, cwd };
}

/** Call it at the top of a file. @returns what opens a page with cookies of its own */
export function useChromium(): () => Promise<Page> {
  const browser = sharedChromium();
  // The certificate of an https issuer is self-signed.
  return async () => (await browser).newPage({ ignoreHTTPSErrors: true });
}
