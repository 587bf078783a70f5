import { describe, expect, test, vi } from "vitest";
import { authApps, type AuthProvider, type NextProvider } from "../../helpers/auth-apps.ts";
import { startRelyingParty } from "../../helpers/relying-party.ts";
import { appleKey, appleKeyId, appleSecret, appleTeam } from "../../helpers/vendor-app.ts";
import { answerOf, sources, vendorGuide } from "../../helpers/vendor-guide.ts";

/** The libraries of apps that have "Sign in with Apple" built in, unmodified, with the lines of docs/vendors.md. */

const { app, url } = await startRelyingParty();
const { example, lines, serveFor } = vendorGuide();
const apps = authApps(app, url);
vi.stubEnv("APPLE_TEAM_ID", appleTeam);
vi.stubEnv("APPLE_KEY_ID", appleKeyId);
vi.stubEnv("APPLE_PRIVATE_KEY", appleKey.export({ type: "pkcs8", format: "pem" }).toString());

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

describe("apple-signin-auth", async () => {
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

test.each(sources)("apple-signin-auth, with the lines of %s", async (source) => {
  const idp = await serveFor("apple", `${url}/callback`);
  const apple = await lines<Pick<Apple, "begin" | "finish" | "verify">>(source, idp, "Apple", "apple-signin-auth");
  const { code = "" } = await answerOf(apple.begin("s1"));
  const { id_token: idToken } = await apple.finish(code);
  expect(await apple.verify(idToken)).toMatchObject({ email: "alice@example.com" });
});

test.each(sources)("arctic, with the lines of %s", async (source) => {
  const idp = await serveFor("apple", `${url}/arctic`);
  interface Arctic {
    begin: (state: string) => string;
    finish: (code: string) => Promise<{ idToken(): string }>;
  }
  const { begin, finish } = await lines<Arctic>(source, idp, "Apple", "arctic");
  const { code = "" } = await answerOf(begin("s1"));
  expect((await finish(code)).idToken()).toMatch(/^eyJ/);
});

test.each(sources)("Auth.js, with the lines of %s", async (source) => {
  const idp = await serveFor("apple", `${url}/auth/callback/apple`);
  const made = await lines<{ providerFor: (secret: string) => AuthProvider }>(source, idp, "Apple", "@auth/express");
  expect(await apps.authjs(idp.issuer, "apple", made.providerFor(await appleSecret()))).toMatchObject({
    user: { name: "Alice Adams", email: "alice@example.com" },
  });
});

test.each(sources)("next-auth 4, with the lines of %s", async (source) => {
  const idp = await serveFor("apple", `${url}/api/next/callback/apple`);
  const made = await lines<{ providerFor: (secret: string) => NextProvider }>(source, idp, "Apple", "next-auth");
  expect(await apps.nextAuth(idp.issuer, "apple", made.providerFor(await appleSecret()))).toMatchObject({
    user: { email: "alice@example.com" },
  });
});
