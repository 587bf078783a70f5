/**
 * @module-tag browser
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, test } from "vitest";
import type { BrowserContext, Page } from "playwright-core";
import { enroll, register, serve } from "../helpers/app.ts";
import { sharedChromium } from "../helpers/chromium.ts";
import { jwtPart } from "../helpers/client.ts";

/** Passkeys in Chromium, with an authenticator of its own: registered on the account page, and asked for by an app. */

const browser = await sharedChromium();
const idp = await serve({ settings: { consent: "skip", acr: { phr: ["passkey"] } } });

/** The app that the browser comes back to. */
const appServer = createServer((_request, response) => void response.end("the app")).listen(0, "127.0.0.1");
await once(appServer, "listening");
afterAll(() => {
  appServer.closeAllConnections();
  appServer.close();
});
const redirect_uri = `http://127.0.0.1:${(appServer.address() as AddressInfo).port}/callback`;
const newApp = () => register(idp, { redirect_uris: [redirect_uri] });

async function withAuthenticator(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2",
    transport: "internal",
    hasResidentKey: true,
    hasUserVerification: true,
  } as const;
  await session.send("WebAuthn.addVirtualAuthenticator", {
    options: { ...options, isUserVerified: true, automaticPresenceSimulation: true },
  });
  return page;
}

/** Registers a passkey as a user who is picked. */
async function addPasskey(page: Page, username: string): Promise<void> {
  await page.goto(`${idp.issuer}/account`);
  await page.getByTestId(`login-as-${username}`).click();
  await page.getByTestId("account-passkey-add").click();
  await page.getByTestId("account-status").getByText("The passkey was added").waitFor();
}

/** What the page sends the app. */
async function answerOf(page: Page, act: () => Promise<unknown>): Promise<URL> {
  await act();
  await page.waitForURL(`${redirect_uri}?**`);
  return new URL(page.url());
}

test("a passkey is added on the account page, asked for by an app, and removed", async () => {
  const username = await enroll(idp);
  const app = await newApp();
  const context = await browser.newContext();
  const page = await withAuthenticator(context);
  await addPasskey(page, username);
  expect(await page.getByTestId("account-factor-passkey").count()).toBe(1);
  await page.goto(app.url({ redirect_uri, acr_values: "phr" }));
  expect(await page.locator("html").getAttribute("data-page")).toBe("factor");
  const back = await answerOf(page, () => page.getByTestId("factor-passkey").click());
  const { json } = await app.exchange(back.searchParams.get("code") ?? "", { redirect_uri });
  expect(jwtPart(json.id_token, 1)).toMatchObject({ acr: "phr", amr: ["user", "hwk"] });
  await page.goto(`${idp.issuer}/account`);
  await page.locator("[data-testid^=account-passkey-remove-]").click();
  await page.getByTestId("account-status").getByText("The passkey was removed").waitFor();
  expect(await page.getByTestId("account-factor-passkey").count()).toBe(0);
  await context.close();
});

test("an answer that was used, one of another user and one for another origin are refused", async () => {
  const [alice, other] = [await enroll(idp), await enroll(idp)];
  const app = await newApp();
  const context = await browser.newContext();
  const page = await withAuthenticator(context);
  await addPasskey(page, alice);
  await page.goto(app.url({ redirect_uri, acr_values: "phr" }));
  const posted = page.waitForRequest((request) => request.method() === "POST");
  await answerOf(page, () => page.getByTestId("factor-passkey").click());
  const used = new URLSearchParams((await posted).postData() ?? "").get("passkey") ?? "";
  expect(JSON.parse(used)).toMatchObject({ type: "public-key" });

  /** Sends an answer by the form of the page. */
  const send = (from: Page, answer: string): Promise<unknown> =>
    from.evaluate((value) => {
      const form = document.getElementById("factor-form") as HTMLFormElement;
      (form.elements.namedItem("passkey") as HTMLInputElement).value = value;
      form.submit();
    }, answer);
  const refused = (from: Page): Promise<void> => from.getByTestId("factor-error").waitFor();

  // Used: the challenge is another one in each sign-in.
  await page.goto(app.url({ redirect_uri, acr_values: "phr", max_age: "0" }));
  await send(page, used);
  await refused(page);

  // Of another user.
  const second = await browser.newContext();
  const page2 = await withAuthenticator(second);
  await addPasskey(page2, other);
  await page2.goto(app.url({ redirect_uri, acr_values: "phr", max_age: "0" }));
  await send(page2, used);
  await refused(page2);

  // For another origin: genuine but for what the browser says of the page.
  await page.goto(app.url({ redirect_uri, acr_values: "phr", max_age: "0" }));
  const fresh = page.waitForRequest((request) => request.method() === "POST");
  await page.route("**/factor", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
  await page.getByTestId("factor-passkey").click();
  const genuine = new URLSearchParams((await fresh).postData() ?? "").get("passkey") ?? "{}";
  const answer = JSON.parse(genuine) as { response: { clientDataJSON: string } };
  const data = Buffer.from(answer.response.clientDataJSON, "base64url").toString();
  const elsewhere = data.replace(idp.issuer, "http://localhost:1");
  answer.response.clientDataJSON = Buffer.from(elsewhere).toString("base64url");
  await page.unroute("**/factor");
  await page.goto(app.url({ redirect_uri, acr_values: "phr", max_age: "0" }));
  await send(page, JSON.stringify(answer));
  await refused(page);
  await Promise.all([context.close(), second.close()]);
});
