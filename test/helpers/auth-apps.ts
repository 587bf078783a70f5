import { ExpressAuth, type ExpressAuthConfig } from "@auth/express";
import { betterAuth, type BetterAuthOptions } from "better-auth";
import { toNodeHandler } from "better-auth/node";
import { parseCookie } from "cookie";
import express, { type Express } from "express";
import { createRequire } from "node:module";
import type nextAuth from "next-auth";
import type { AuthOptions } from "next-auth";
import { vi } from "vitest";
import { Browser } from "./browser.ts";
import { through } from "./vendor-guide.ts";

/** Apps with Auth.js, next-auth 4 and better-auth, in which alice signs in with a vendor. Each is at its own path of one Express app. */

const secret = "a long secret of the application's own";

export type AuthProvider = ExpressAuthConfig["providers"][number];
export type NextProvider = AuthOptions["providers"][number];
export type Plugin = NonNullable<BetterAuthOptions["plugins"]>[number];

export function authApps(app: Express, url: string) {
  let authjs: AuthProvider[] = [];
  let next: NextProvider[] = [];
  let plugins: Plugin[] = [];
  app.use("/auth", (req, res, done) => ExpressAuth({ secret, trustHost: true, providers: authjs })(req, res, done));
  app.all("/api/auth/*path", (req, res) => toNodeHandler(betterAuth({ baseURL: url, secret, plugins }))(req, res));
  const { default: NextAuth } = createRequire(import.meta.url)("next-auth") as typeof nextAuth;
  app.all("/api/next/*nextauth", express.urlencoded(), (req, res) => {
    const query = { ...req.query, nextauth: req.params["nextauth"] };
    const cookies = { value: parseCookie(req.headers.cookie ?? "") };
    Object.defineProperties(req, { query: { value: query }, cookies });
    return NextAuth(req, res, { secret, providers: next });
  });

  /** Signs in by the page of Auth.js or next-auth. @returns the session that the app shows */
  async function signIn(issuer: string, at: string, vendor: string): Promise<unknown> {
    const browser = new Browser(issuer, url);
    const { csrfToken } = JSON.parse((await browser.open(`${at}/csrf`)).body) as { readonly csrfToken: string };
    const body = new URLSearchParams({ csrfToken, callbackUrl: `${at}/session` });
    const begun = await browser.open(`${at}/signin/${vendor}`, { method: "POST", body, headers: { origin: url } });
    return JSON.parse((await through(browser, begun)).body);
  }

  return {
    authjs: (issuer: string, vendor: string, provider: AuthProvider) => {
      authjs = [provider];
      return signIn(issuer, `${url}/auth`, vendor);
    },
    nextAuth: (issuer: string, vendor: string, provider: NextProvider) => {
      next = [provider];
      vi.stubEnv("NEXTAUTH_URL", `${url}/api/next`);
      return signIn(issuer, `${url}/api/next`, vendor);
    },
    async betterAuth(issuer: string, vendor: string, used: Plugin): Promise<unknown> {
      plugins = [used];
      const browser = new Browser(issuer, url);
      const started = await browser.open(`${url}/api/auth/sign-in/social`, {
        method: "POST",
        body: JSON.stringify({ provider: vendor, callbackURL: "/api/auth/get-session" }),
        headers: { "content-type": "application/json", origin: url },
      });
      const { url: address } = JSON.parse(started.body) as { readonly url: string };
      return JSON.parse((await through(browser, await browser.open(address))).body);
    },
  };
}
