import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished } from "vitest";
import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";
import { sharedChromium } from "./chromium.ts";

/** A person in front of a real browser, scripts off. */
export interface Person {
  /** A server of this test's own. */
  readonly idp: Idp;
  readonly browser: Browser;
  /** Without scripts. */
  readonly context: BrowserContext;
  readonly page: Page;
  /** Where the app `web` gets its answers. */
  readonly callback: string;
  /** An authorization request of that app. */
  readonly authorizationUrl: (parameters?: Readonly<Record<string, string>>) => string;
  /** The page the browser is on: `login default`, or `app`. */
  readonly place: (on?: Page) => Promise<string>;
  /** The parameters that the app got. */
  readonly answer: (on?: Page) => URLSearchParams;
  /** Presses Tab until this element has the focus. */
  readonly tabTo: (hook: string) => Promise<void>;
  /** Presses Enter and waits for the page that comes of it. */
  readonly enter: () => Promise<void>;
}

interface App {
  readonly callback: string;
  readonly close: () => void;
}

/** The client: a page that says that the user came back. */
async function startApp(): Promise<App> {
  const server = createServer((_req, res) => {
    res.setHeader("Content-Type", "text/html").end("<title>App</title><h1>Back in the app</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    callback: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const options = (callback: string): IdpOptions => ({
  port: 0,
  fixtures: {
    users: [
      { username: "alice", displayName: "Alice Adams", email: "alice@example.com", password: "alice-secret" },
      { username: "bob", displayName: "Bob Brown", email: "bob@example.com" },
      { username: "carol", displayName: "Carol Çelik", email: "carol@example.com", status: "suspended" },
    ],
    clients: [
      { client_id: "web", client_secret: "web-secret", client_name: "Web App", redirect_uris: [callback] },
      { client_id: "tv", grant_types: ["urn:ietf:params:oauth:grant-type:device_code"] },
    ],
  },
});

/** Ends with the test, which fails if the browser left the machine or complained. */
async function newContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const requests: string[] = [];
  const complaints: string[] = [];
  context.on("request", (request) => requests.push(request.url()));
  context.on("console", (message) => complaints.push(message.text()));
  onTestFinished(async () => {
    await context.close();
    const elsewhere = requests.filter((url) => !/^(http:\/\/(localhost|127\.0\.0\.1):|data:)/.test(url));
    // A refusal that a test asks for is one to the browser too.
    const complained = complaints.filter((text) => !/responded with a status of 4\d\d/.test(text));
    expect([elsewhere, complained], "what left the machine, and what the browser complained of").toEqual([[], []]);
  });
  return context;
}

/** Starts an app for the tests of a file; call it at its top. @returns what makes the person of one test */
export function peopleInChromium(): () => Promise<Person> {
  const shared = sharedChromium();
  let app: App;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => {
    app.close();
  });
  return async () => {
    const { callback } = app;
    const idp = await createIdp(options(callback));
    onTestFinished(() => idp.close());
    const browser = await shared;
    const context = await newContext(browser);
    const page = await context.newPage();
    return {
      ...{ idp, browser, context, page, callback },
      authorizationUrl: (parameters = {}) => {
        const query = new URLSearchParams({
          response_type: "code",
          client_id: "web",
          redirect_uri: callback,
          scope: "openid profile email phone",
          state: "s1",
          ...parameters,
        });
        return `${idp.issuer}/api/v2/oauth/authorize?${query.toString()}`;
      },
      place: async (on = page) => {
        if (on.url().startsWith(callback)) return "app";
        const html = on.locator("html");
        return `${(await html.getAttribute("data-page")) ?? ""} ${(await html.getAttribute("data-state")) ?? ""}`;
      },
      answer: (on = page) => new URL(on.url()).searchParams,
      tabTo: async (hook) => {
        for (let presses = 0; presses < 30; presses += 1) {
          await page.keyboard.press("Tab");
          if ((await page.locator(":focus").getAttribute("id")) === hook) return;
        }
        throw new Error(`the Tab key does not reach ${hook}`);
      },
      enter: async () => {
        const loaded = page.waitForEvent("load");
        await page.keyboard.press("Enter");
        await loaded;
      },
    };
  };
}
