import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "./playwright-types.ts";

/** When a page that scripts change has come to rest, and what is said where it does not. */

/** Milliseconds that a page may take to come to rest. */
export const timeoutMs = 10_000;
/** Milliseconds without a change of its address and text. */
const stillMs = 1000;
/** Milliseconds for its requests to end: some never do. */
const networkMs = 3000;
/** Milliseconds in which a text may appear. */
const appearMs = 3000;
const pauseMs = 100;
/** Characters of a page that are shown. */
const maxShown = 120;

/** What a person reads; empty while there is no page. */
export const textOf = (page: Page): Promise<string> =>
  page
    .locator("body")
    .innerText({ timeout: stillMs })
    .catch(() => "");

/** Waits until the address and the text of a page have not changed for a second. */
export async function untilStill(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle", { timeout: networkMs }).catch(() => undefined);
  const until = performance.now() + timeoutMs;
  let last = "";
  let since = performance.now();
  for (let now = since; now - since < stillMs && now < until; now = performance.now()) {
    const state = `${page.url()}\n${await textOf(page)}`;
    if (state !== last) [last, since] = [state, performance.now()];
    await delay(pauseMs);
  }
}

/** Waits some seconds for a text that may come late. */
export async function untilShown(page: Page, text: string): Promise<void> {
  const until = performance.now() + appearMs;
  while (performance.now() < until && !(await textOf(page)).includes(text)) await delay(pauseMs);
}

/** What Playwright calls before it says what failed: "page.goto: Timeout 10000ms exceeded." */
const ofPlaywright = /^(?:page|frame|locator|browser|browserContext|elementHandle|cdpSession)\.\w+: /;

const reasons: Readonly<Record<string, string>> = {
  ERR_CONNECTION_REFUSED: "nothing listens there",
  ERR_NAME_NOT_RESOLVED: "its name cannot be resolved",
  ERR_EMPTY_RESPONSE: "it closed the connection",
  ERR_CONNECTION_RESET: "it closed the connection",
  ERR_TOO_MANY_REDIRECTS: "it redirects again and again",
  ERR_TIMED_OUT: "it did not answer in time",
  ERR_SSL_PROTOCOL_ERROR: "it does not speak TLS, which https requires",
};

/** Why a page cannot go on, in our words: never those of Playwright. */
export async function whyStuck(page: Page, error: Error): Promise<string> {
  const [first = ""] = error.message.split("\n");
  const [, code, address] = /net::(ERR_\w+)(?: at (\S+))?/.exec(first) ?? [];
  if (code !== undefined) {
    return `the browser could not open ${address ?? page.url()}: ${reasons[code] ?? code.toLowerCase().replaceAll("_", " ")}`;
  }
  if (!ofPlaywright.test(first) && error.name !== "TimeoutError") return first;
  const text = (await textOf(page)).replaceAll(/\s+/g, " ").trim();
  const shown = text === "" ? "it shows nothing" : `it shows ${JSON.stringify(text.slice(0, maxShown))}`;
  const { origin, pathname } = new URL(page.url());
  return `the page at ${origin === "null" ? page.url() : origin + pathname} did not go on within ${timeoutMs / 1000} s; ${shown}`;
}
