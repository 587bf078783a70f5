import { ExpressAuth } from "@auth/express";
import { expect, test } from "vitest";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { relyingPartySecret, startIdpFor, startRelyingParty } from "../helpers/relying-party.ts";

/** Auth.js, unmodified, with an OpenID Connect provider that is described by its issuer alone. */

const { app, url } = await startRelyingParty();
const idp = await startIdpFor([`${url}/auth/callback/idp`]);

app.use(
  "/auth",
  ExpressAuth({
    secret: "a long secret of the application's own",
    trustHost: true,
    logger: { error: () => undefined },
    providers: [
      { id: "idp", name: "idp", type: "oidc", issuer: idp.issuer, clientId: "app", clientSecret: relyingPartySecret },
    ],
  }),
);

async function signIn(browser: Browser): Promise<Visit> {
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).body) as { readonly csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: `${url}/auth/session` });
  return browser.open(`${url}/auth/signin/idp`, { method: "POST", body, headers: { origin: url } });
}

test("alice signs in", async () => {
  const browser = new Browser(idp.issuer, url);
  const session = await approve(browser, await signIn(browser));
  expect(session.url).toBe(`${url}/auth/session`);
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice Adams", email: "alice@example.test" } });
});

test("a user who denies is not signed in", async () => {
  const browser = new Browser(idp.issuer, url);
  const consent = await browser.press(await signIn(browser), "login-as-bob");
  await browser.press(consent, "consent-deny");
  expect(JSON.parse((await browser.open(`${url}/auth/session`)).body)).toBeNull();
});
