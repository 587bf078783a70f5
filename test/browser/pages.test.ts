import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { sharedChromium } from "../helpers/chromium.ts";
import { elementsOf } from "../helpers/html.ts";
import { startPageServer } from "../helpers/page-server.ts";
import { dataUrl, pictures } from "../helpers/pictures.ts";
import { oneOfEachKind } from "../helpers/sample-views.ts";

/**
 * A page of each kind in a real browser: what only a browser can show.
 * @module-tag browser
 */

const browser = await sharedChromium();
let server: Awaited<ReturnType<typeof startPageServer>>;
let turkish: typeof server;
/** One window for all that is only looked at. */
let window: Page;
const requests: string[] = [];
const complaints: string[] = [];

beforeAll(async () => {
  [server, turkish] = await Promise.all([
    startPageServer(),
    startPageServer((view) => ({ ...view, lang: "tr", theme: "dark" })),
  ]);
  window = await browser.newPage();
  await window.addInitScript({ content: axe.source });
  window.on("request", (request) => requests.push(request.url()));
  window.on("console", (message) => complaints.push(message.text()));
  window.on("dialog", (dialog) => {
    complaints.push(dialog.message());
    void dialog.dismiss();
  });
  window.on("pageerror", (error) => complaints.push(error.message));
});

afterAll(async () => {
  await window.context().close();
  await Promise.all([server.close(), turkish.close()]);
});

const rules = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The violations that axe finds on the page, with everything unfolded. */
async function violations(): Promise<unknown> {
  return window.evaluate(`(async () => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    const found = await axe.run(document, { runOnly: ${JSON.stringify(rules)}, resultTypes: ["violations"] });
    return found.violations.map(({ id, nodes }) => ({ id, where: nodes.map(({ html }) => html) }));
  })()`);
}

// The form_post page leaves at once; its own test is below.
describe.each(oneOfEachKind.filter(({ name }) => !["form-post", "saml-post"].includes(name)))("$name", ({ name }) => {
  let html = "";
  beforeAll(async () => {
    requests.length = 0;
    complaints.length = 0;
    await window.setViewportSize({ width: 1280, height: 720 });
    const answer = await window.goto(`${server.url}/${name}`);
    html = (await answer?.text()) ?? "";
  });

  test("is read by the browser as it is written: no element is moved, added or closed by it", async () => {
    const read = await window.evaluate<string[]>(
      "[...document.querySelectorAll('*')].map(({ localName }) => localName)",
    );
    expect(read).toEqual(elementsOf(html).map(({ tag }) => tag));
  });

  test("loads from this server only, has its styles, and no browser warnings", async () => {
    expect(requests.filter((url) => !url.startsWith(`${server.url}/`) && !url.startsWith("data:"))).toEqual([]);
    expect(complaints).toEqual([]);
    expect(await window.evaluate("getComputedStyle(document.body).margin")).toBe("0px");
  });

  test("has no axe violations, light and English", async () => {
    expect(await violations()).toEqual([]);
  });

  test("fits 320 pixels, dark by choice and Turkish, and what is pressed is 44 pixels high there", async () => {
    await window.setViewportSize({ width: 320, height: 640 });
    await window.goto(`${turkish.url}/${name}`);
    expect(await window.getAttribute("html", "lang")).toBe("tr");
    expect(await window.evaluate("getComputedStyle(document.documentElement).colorScheme")).toBe("dark");
    await window.evaluate("for (const details of document.querySelectorAll('details')) details.open = true");
    const pressed = "button:not([hidden]), .button, summary, label.scope, .paging a, .choices a";
    const small = await window.evaluate(`({
      width: document.documentElement.scrollWidth,
      low: [...document.querySelectorAll(${JSON.stringify(pressed)})]
        .filter((element) => element.getBoundingClientRect().height < 44)
        .map(({ outerHTML }) => outerHTML),
    })`);
    expect(small).toEqual({ width: 320, low: [] });
  });

  test("has no axe violations there either", async () => {
    expect(await violations()).toEqual([]);
  });
});

test("in the inspector, addresses and rows keep to a line at 1280 pixels beside an unfolded form, and boxes keep their size at 360", async () => {
  const linesOf = (selector: string): Promise<number[]> =>
    window.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => {
      const range = document.createRange();
      range.selectNodeContents(one);
      return new Set([...range.getClientRects()].map(({ bottom }) => Math.round(bottom / 16))).size;
    })`);
  await window.setViewportSize({ width: 1280, height: 720 });
  await window.goto(`${server.url}/inspector-clients-refused`);
  expect(new Set(await linesOf(".clients td:nth-child(2) code"))).toEqual(new Set([1]));
  await window.goto(`${server.url}/inspector-grants`);
  expect(new Set(await linesOf(".grants td .state, .grants td .hint, .grants td code"))).toEqual(new Set([1]));
  await window.setViewportSize({ width: 360, height: 720 });
  await window.goto(`${turkish.url}/inspector-tokens-not-made`);
  expect(
    await window.evaluate("[...new Set([...document.querySelectorAll('.tick input')].map((one) => one.offsetWidth))]"),
  ).toEqual([20]);
});

test("a brand is loaded and shown, has no axe violations in either theme, and a script in its logo does not run", async () => {
  complaints.length = 0;
  await window.setViewportSize({ width: 1280, height: 720 });
  const shown = `({
    accent: getComputedStyle(document.querySelector("a.skip")).color,
    logo: document.querySelector(".mark img")?.naturalWidth > 0,
  })`;
  const looks: unknown[] = [];
  for (const logo of [pictures.svg, pictures.scriptedSvg]) {
    const brand = { name: "Acme", color: "#ffcc00", logo: dataUrl("image/svg+xml", logo) };
    const idp = await serve({ fixtures: [{ settings: { brand, try_it: true }, users: [{ username: "alice" }] }] });
    for (const theme of ["light", "dark"]) {
      for (const path of ["/", "/account"]) {
        await window.goto(`${idp.issuer}${path}?theme=${theme}`);
        expect(await violations()).toEqual([]);
      }
      looks.push(await window.evaluate(shown));
    }
    await window.goto(`${idp.issuer}/_idp/assets/logo`);
  }
  const [light, dark] = ["rgb(135, 108, 0)", "rgb(255, 204, 0)"];
  expect(looks).toMatchObject([light, dark, light, dark].map((accent) => ({ accent, logo: true })));
  // What the browser says of the logo with scripts, opened by itself.
  expect(complaints.filter((text) => !text.includes("sandboxed") && !text.includes("Content Security Policy"))).toEqual(
    [],
  );
  expect(complaints).not.toEqual([]);
});

/** Opens a page in a new window, does something there, and closes it. */
async function within<T>(
  name: string,
  options: Parameters<Browser["newPage"]>[0],
  visit: (page: Page) => Promise<T>,
): Promise<T> {
  const page = await browser.newPage(options);
  try {
    await page.goto(`${server.url}/${name}`);
    return await visit(page);
  } finally {
    await page.close();
  }
}

test("the theme of the device is the same one as the theme of choice, which goes before it", async () => {
  const paper = async (name: string, colorScheme: "light" | "dark", url: string): Promise<string> => {
    const page = await browser.newPage({ colorScheme });
    await page.goto(`${url}/${name}`);
    const color = await page.evaluate<string>("getComputedStyle(document.querySelector('main')).backgroundColor");
    await page.close();
    return color;
  };
  const dark = await paper("login-default", "dark", server.url);
  expect(dark).not.toBe(await paper("login-default", "light", server.url));
  expect(await paper("login-default", "light", turkish.url)).toBe(dark);
});

/** Of the element that has the focus; null: none has. */
interface Stop {
  readonly name: string;
  readonly outlineStyle: string;
  readonly outlineWidth: number;
  readonly top: number;
}

test("every stop of the Tab key shows where it is, and the skip link comes first", async () => {
  const stops = await within("consent-incremental", {}, async (page) => {
    const seen: Stop[] = [];
    for (;;) {
      await page.keyboard.press("Tab");
      const stop = await page.evaluate<Stop | null>(`(() => {
        const { activeElement: element, body } = document;
        if (element === null || element === body) return null;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        const { top } = element.getBoundingClientRect();
        return { name: element.id || element.textContent.trim(), outlineStyle, outlineWidth: parseFloat(outlineWidth), top };
      })()`);
      if (stop === null) return seen;
      seen.push(stop);
    }
  });
  expect(stops.map(({ name }) => name)).toEqual([
    "Skip to content",
    "consent-switch-user",
    "consent-scope-phone",
    "What “See your phone number” gives",
    "consent-scope-orders:read",
    "What “See your orders” gives",
    "consent-granted",
    "consent-allow",
    "consent-deny",
    "Your account",
    expect.stringContaining("Request details"),
    "English",
    "Türkçe",
    "System",
    "Light",
    "Dark",
  ]);
  for (const { name, outlineStyle, outlineWidth, top } of stops) {
    expect(outlineStyle, name).toBe("solid");
    expect(outlineWidth, name).toBeGreaterThanOrEqual(2);
    expect(top, name).toBeGreaterThanOrEqual(0);
  }
});

test("Enter on a checkbox decides nothing, Space unticks it", async () => {
  await within("consent-default", {}, async (page) => {
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.method()));
    await page.focus("#consent-scope-email");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Space");
    expect(await page.isChecked("#consent-scope-email")).toBe(false);
    expect(sent).toEqual([]);
  });
});

test("without scripts, a folded password form opens and is sent with what was typed", async () => {
  await within("login-default", { javaScriptEnabled: false }, async (page) => {
    await page.getByText("Sign in with a password").click();
    await page.getByTestId("login-username").fill("alice");
    await page.getByTestId("login-password").fill("secret");
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.keyboard.press("Enter");
    const body = new URLSearchParams((await sent).postData() ?? "");
    expect(Object.fromEntries(body)).toEqual({ csrf: "c5rf", username: "alice", password: "secret" });
  });
});

test("the button that is pressed decides, and the ticked scopes go with it", async () => {
  await within("consent-default", { javaScriptEnabled: false }, async (page) => {
    await page.getByTestId("consent-scope-details").uncheck();
    const sent = page.waitForRequest((request) => request.method() === "POST");
    await page.getByTestId("consent-deny").click();
    const body = new URLSearchParams((await sent).postData() ?? "");
    expect(body.get("decision")).toBe("deny");
    expect(body.getAll("scope")).toEqual([
      "openid",
      "profile",
      "email",
      "social",
      "orders:read",
      "claim:given_name",
      "offline_access",
    ]);
  });
});

test("an answer by form_post is posted by itself, and by its button where scripts are off", async () => {
  for (const javaScriptEnabled of [true, false]) {
    const page = await browser.newPage({ javaScriptEnabled });
    await page.route("http://localhost:3000/**", (route) => route.fulfill({ body: "arrived" }));
    const sent = page.waitForRequest("http://localhost:3000/callback");
    await page.goto(`${server.url}/form-post`);
    if (!javaScriptEnabled) await page.getByTestId("form-post-continue").click();
    expect((await sent).postData()).toBe("code=4KKNHi&state=af0ifjsldkj");
    await page.close();
  }
});

test("in forced colors, what is pressed or typed into keeps an edge", async () => {
  await within("login-password-only", { forcedColors: "active" }, async (page) => {
    for (const hook of ["login-submit", "login-cancel", "login-username"]) {
      const edge = await page.evaluate(`(() => {
        const { borderTopColor, backgroundColor, borderTopStyle } = getComputedStyle(document.getElementById("${hook}"));
        return { style: borderTopStyle, isSeen: borderTopColor !== backgroundColor };
      })()`);
      expect(edge, hook).toEqual({ style: "solid", isSeen: true });
    }
  });
});
