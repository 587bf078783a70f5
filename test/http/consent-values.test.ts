import { expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { pick } from "../helpers/client.ts";
import { wordsOf } from "../helpers/html.ts";

/** What the pages of a running server say of scopes, values and requests. */

const idp = await serve({
  fixtures: {
    users: [
      {
        username: "alice",
        displayName: "Alice Adams",
        email: "alice@example.com",
        phone: "+905551112233",
        claims: { roles: ["admin"] },
      },
    ],
    scopes: { "orders:read": { description: { en: "See your orders", tr: "Siparişlerini gör" }, claims: ["roles"] } },
  },
});

const words = (visit: Visit): string => wordsOf(visit.body).replaceAll(/\s+/g, " ");

async function consentPage(
  change: Readonly<Record<string, string | null>> = {},
  metadata: Parameters<typeof register>[1] = {},
): Promise<Visit> {
  const app = await register(idp, metadata);
  const browser = new Browser(idp.issuer);
  return pick(browser, await browser.open(app.url(change)), "alice");
}

test("openid shows what is always sent, each other scope what it adds", async () => {
  const shown = words(await consentPage({ scope: "openid profile email phone" }));
  expect(shown).toMatch(
    /Know who you are Always: Alice Adams, alice, \d+ .* openid ID \d+ Name Alice Adams User name alice/,
  );
  expect(shown).toContain("E-mail name alice E-mail domain example.com Verified no");
  expect(shown).toContain("Phone +905551112233");
  // UserInfo has nothing more for profile; the ID token has.
  expect(shown).toMatch(
    /See your profile Alice Adams, alice, .* profile Name Alice Adams Family name Adams Given name Alice User name alice Picture \S+ Language en/,
  );
});

test("a client that takes standard claims is shown to get those", async () => {
  const shown = words(await consentPage({ scope: "openid email" }, { userinfo_format: "standard" }));
  expect(shown).toMatch(/openid ID \(sub\) \d+/);
  expect(shown).toContain("E-mail alice@example.com Verified no");
  expect(shown).not.toContain("E-mail domain");
});

test("without openid, what is always sent is shown above the choice", async () => {
  const shown = words(await consentPage({ scope: "email" }));
  expect(shown).toMatch(/It will always know ID \d+ Name Alice Adams/);
});

test("the notes of a request say what it lacks, and which scopes were left out", async () => {
  const bare = words(await consentPage({ scope: "openid mail:read", state: null, nonce: null }));
  expect(bare).toContain("No PKCE");
  expect(bare).toContain("No state");
  expect(bare).toContain("No nonce");
  expect(bare).toContain("were left out: mail:read");
  expect(bare).not.toContain("ignored_scopes");
  const usual = words(await consentPage({ scope: "openid" }));
  expect(usual).not.toContain("No state");
  expect(usual).not.toContain("No nonce");
  expect(usual).not.toContain("left out");
  expect(usual).toMatch(/redirect_uri http:\/\/localhost:3000\/callback scope openid state/);
});

test("a scope's description from a fixture is on the consent, account and device pages", async () => {
  const app = await register(idp, {
    client_id: "shop",
    grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
  });
  const browser = new Browser(idp.issuer);
  const consent = await pick(browser, await browser.open(app.url({ scope: "openid orders:read" })), "alice");
  expect(words(consent)).toContain("orders:read roles[0] admin");
  await browser.press(consent, "consent-allow");
  expect(words(await browser.open("/account"))).toContain("See your orders orders:read");

  const answer = await fetch(`${idp.issuer}/api/v2/oauth/device_authorization`, {
    method: "POST",
    body: new URLSearchParams({
      client_id: app.credentials.client_id,
      client_secret: app.credentials.client_secret ?? "",
      scope: "orders:read",
    }),
  });
  const { user_code } = (await answer.json()) as { user_code: string };
  expect(words(await browser.open(`/device?user_code=${user_code}`))).toContain("See your orders orders:read");
});

test("a whole token is not shown, even where the request has one", async () => {
  const app = await register(idp);
  const user = await enroll(idp);
  const { id_token } = await app.tokens({ user });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url({ id_token_hint: id_token }));
  expect(login.page).toBe("login");
  expect(login.body).toContain("id_token_hint");
  expect(login.body).not.toContain(id_token);
});
