import { parseCookie } from "cookie";
import express from "express";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import type nextAuth from "next-auth";
import type { AuthOptions } from "next-auth";
import { afterAll, expect, test, vi } from "vitest";
import { approve, Browser } from "../../helpers/browser.ts";
import { idp } from "../../helpers/cli.ts";
import { startIdpFor, startRelyingParty } from "../../helpers/relying-party.ts";

/** next-auth 4, unmodified, with what `idp env --for next-auth` prints. Express takes the place of Next.js, which is not installed. */

const { app, url } = await startRelyingParty();
const { issuer, cwd } = await startIdpFor([`${url}/api/auth/callback/idp`]);

// vitest reads the default export of a CommonJS package in another way than Node.js and TypeScript.
const { default: NextAuth } = createRequire(import.meta.url)("next-auth") as typeof nextAuth;

vi.stubEnv("NEXTAUTH_URL", url);
afterAll(() => vi.unstubAllEnvs());
const printed = await idp(["env", "--for", "next-auth"], { cwd });
expect(printed, printed.stderr).toMatchObject({ code: 0, stderr: "" });
const file = join(cwd, "next-auth.mjs");
writeFileSync(file, printed.stdout);
const { config } = (await import(pathToFileURL(file).href)) as { readonly config: AuthOptions };

app.use(express.urlencoded());
app.all("/api/auth/*nextauth", (req, res) => {
  // What Next.js makes of a request to pages/api/auth/[...nextauth].
  const { cookie = "" } = req.headers;
  const query = { ...req.query, nextauth: req.params.nextauth };
  Object.defineProperties(req, { query: { value: query }, cookies: { value: parseCookie(cookie) } });
  return NextAuth(req, res, config);
});

test("alice signs in", async () => {
  const browser = new Browser(issuer, url);
  const csrf = await browser.open(`${url}/api/auth/csrf`);
  const { csrfToken } = JSON.parse(csrf.body) as { readonly csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: `${url}/api/auth/session` });
  const visit = await browser.open(`${url}/api/auth/signin/idp`, { method: "POST", body });
  const session = await approve(browser, visit);
  expect(session.url).toBe(`${url}/api/auth/session`);
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice Adams", email: "alice@example.com" } });
});
