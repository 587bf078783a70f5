import { betterAuth } from "better-auth";
import { toNodeHandler } from "better-auth/node";
import { genericOAuth } from "better-auth/plugins";
import { expect, test } from "vitest";
import { approve, Browser } from "../../helpers/browser.ts";
import { relyingPartySecret, startIdpFor, startRelyingParty } from "../../helpers/relying-party.ts";

/** better-auth, unmodified, with its plugin for any provider and nothing but the address of discovery, id and secret. */

const { app, url } = await startRelyingParty();
const { issuer } = await startIdpFor([`${url}/api/auth/callback/idp`]);

const auth = betterAuth({
  baseURL: url,
  secret: "a long secret of the application's own",
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: "idp",
          discoveryUrl: `${issuer}/.well-known/openid-configuration`,
          clientId: "app",
          clientSecret: relyingPartySecret,
          scopes: ["openid", "profile", "email"],
        },
      ],
    }),
  ],
});
app.all("/api/auth/*path", toNodeHandler(auth));

test("alice signs in", async () => {
  const browser = new Browser(issuer, url);
  const body = JSON.stringify({ provider: "idp", callbackURL: "/api/auth/get-session" });
  const started = await browser.open(`${url}/api/auth/sign-in/social`, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", origin: url },
  });
  const { url: address } = JSON.parse(started.body) as { readonly url: string };
  const session = await approve(browser, await browser.open(address));
  expect(session.url).toBe(`${url}/api/auth/get-session`);
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice Adams", email: "alice@example.com" } });
});
