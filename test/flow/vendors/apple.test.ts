import { ExpressAuth, type ExpressAuthConfig } from "@auth/express";
import { describe, expect, test, vi } from "vitest";
import { Browser } from "../../helpers/browser.ts";
import { startRelyingParty } from "../../helpers/relying-party.ts";
import { appleKey, appleKeyId, appleSecret, appleTeam } from "../../helpers/vendor-app.ts";
import { answerOf, through, vendorGuide } from "../../helpers/vendor-guide.ts";

/** The libraries of apps that have "Sign in with Apple" built in, unmodified, with the lines of docs/vendors.md. */

const { app, url } = await startRelyingParty();
const { example, serveFor } = vendorGuide();
vi.stubEnv("APPLE_TEAM_ID", appleTeam);
vi.stubEnv("APPLE_KEY_ID", appleKeyId);
vi.stubEnv("APPLE_PRIVATE_KEY", appleKey.export({ type: "pkcs8", format: "pem" }).toString());

describe("apple-signin-auth", async () => {
  interface Tokens {
    readonly id_token: string;
    readonly refresh_token: string;
    readonly error?: string;
  }
  interface Apple {
    begin: (state: string) => string;
    finish: (code: string) => Promise<Tokens>;
    refresh: (token: string) => Promise<Tokens>;
    revoke: (token: string) => Promise<unknown>;
    verify: (idToken: string) => Promise<Readonly<Record<string, unknown>>>;
  }
  const idp = await serveFor("apple", `${url}/callback`);
  const apple = await example<Apple>("Apple", "apple-signin-auth");

  test("signs in, verifies the ID token, refreshes twice, and revokes", async () => {
    const { code = "", user = "" } = await answerOf(apple.begin("s1"));
    expect(JSON.parse(user)).toMatchObject({ name: { firstName: "Alice" } });
    const tokens = await apple.finish(code);
    expect(await apple.verify(tokens.id_token)).toMatchObject({ email: "alice@example.com", nonce_supported: true });
    for (let round = 0; round < 2; round += 1)
      expect(await apple.refresh(tokens.refresh_token)).toHaveProperty("id_token");
    await apple.revoke(tokens.refresh_token);
    expect(await apple.refresh(tokens.refresh_token)).toMatchObject({ error: "invalid_grant" });
    expect(await apple.finish(code)).toMatchObject({ error: "invalid_grant" });
  });

  test("user comes once, and again after a revocation in the account", async () => {
    expect(await answerOf(apple.begin("s1"))).not.toHaveProperty("user");
    await idp.revoke({ user: "alice", client: "shop" });
    expect(await answerOf(apple.begin("s1"))).toHaveProperty("user");
  });

  test("a secret by another team is invalid_client", async () => {
    const { code = "" } = await answerOf(apple.begin("s1"));
    vi.stubEnv("APPLE_TEAM_ID", "OTHER");
    expect(await apple.finish(code)).toMatchObject({ error: "invalid_client" });
    vi.stubEnv("APPLE_TEAM_ID", appleTeam);
  });
});

test("arctic", async () => {
  await serveFor("apple", `${url}/arctic`);
  interface Arctic {
    begin: (state: string) => string;
    finish: (code: string) => Promise<{ idToken(): string }>;
  }
  const { begin, finish } = await example<Arctic>("Apple", "arctic");
  const { code = "" } = await answerOf(begin("s1"));
  expect((await finish(code)).idToken()).toMatch(/^eyJ/);
});

test("Auth.js", async () => {
  const idp = await serveFor("apple", `${url}/auth/callback/apple`);
  type Provider = ExpressAuthConfig["providers"][number];
  const { providerFor } = await example<{ providerFor: (secret: string) => Provider }>("Apple", "@auth/express");
  const config = {
    secret: "a long secret of the application's own",
    trustHost: true,
    providers: [providerFor(await appleSecret())],
  };
  app.use("/auth", ExpressAuth(config));
  const browser = new Browser(idp.issuer, url);
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).body) as { readonly csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: `${url}/auth/session` });
  const begun = await browser.open(`${url}/auth/signin/apple`, { method: "POST", body, headers: { origin: url } });
  const me = await through(browser, begun);
  expect(JSON.parse(me.body)).toMatchObject({ user: { name: "Alice Adams", email: "alice@example.com" } });
});
