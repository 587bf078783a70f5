import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, pick } from "../helpers/client.ts";

/** A client that registers itself chooses a redirect URI that looks like another place: no page names that place. */

const idp = await underAttack({ dynamicRegistration: true });

async function clientThatReturnsTo(redirectUri: string): Promise<string> {
  const answer = await fetch(`${idp.issuer}/api/v2/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Mail", redirect_uris: [redirectUri], token_endpoint_auth_method: "none" }),
  });
  const { client_id: id } = (await answer.json()) as { client_id: string };
  return authorizeUrl(idp, {
    ...{ client_id: id, redirect_uri: redirectUri },
    ...{ code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", code_challenge_method: "S256" },
  });
}

/** The texts that a page sets as code, without the folded details of the request. */
const named = (body: string): string[] =>
  [
    ...body.replace(/<details class="request[\s\S]*?<\/details>/, "").matchAll(/<code><bdi>([^<]*)<\/bdi><\/code>/g),
  ].map(([, text = ""]) => text);

describe.each([
  ["en", "You will be sent back to an app on this device: <code><bdi>"],
  ["tr", "Bu cihazdaki bir uygulamaya geri gönderileceksiniz: <code><bdi>"],
])("in %s", (lang, says) => {
  test.each([
    "evil://accounts.google.com/cb",
    "evil://accounts.google.com:443",
    "evil://accounts.google.com?x=1",
    "com.example.app:/accounts.google.com/cb",
  ])("%s is named whole, as the address of an app, on login and consent", async (uri) => {
    const browser = new Browser(idp.issuer);
    const login = await browser.open(`${await clientThatReturnsTo(uri)}&ui_locales=${lang}`);
    const consent = await pick(browser, login, "alice");
    expect([login.page, consent.page]).toEqual(["login", "consent"]);
    for (const { body } of [login, consent]) {
      expect(named(body)).toEqual([uri]);
      expect(body).toContain(says + uri);
    }
  });
});

test("as data, the whole address is there too", async () => {
  const browser = new Browser(idp.issuer);
  const login = await browser.open(await clientThatReturnsTo("evil://accounts.google.com/cb"));
  const asked = await browser.request(login.url, { headers: { accept: "application/json" } });
  expect(await asked.json()).toMatchObject({ returnTo: "evil://accounts.google.com/cb", returnsToApp: true });
});

test.each([
  ["http://localhost:3000/cb", "localhost:3000"],
  ["https://app.example.test/cb", "app.example.test"],
])("%s has a place: %s", async (uri, place) => {
  const browser = new Browser(idp.issuer);
  const login = await browser.open(await clientThatReturnsTo(uri));
  const consent = await pick(browser, login, "alice");
  for (const { body } of [login, consent]) {
    expect(named(body)).toEqual([place]);
    expect(body).toContain(`You will be sent back to <code><bdi>${place}</bdi></code>.`);
  }
});
