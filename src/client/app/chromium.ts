import { signIn } from "../../playwright.ts";
import { hook, next, refusal, whereIs } from "../../playwright-page.ts";
import {
  addressOf,
  afterLogin,
  isApp,
  isIdp,
  isOwnCookie,
  sessionCookieOf,
  uidOf,
  type AuthorizationResponse,
  type NamedValue,
  type Browser,
  type End,
  type Held,
  type Places,
  type Visit,
} from "./visit.ts";
import { ScriptlessBrowser } from "../browser.ts";
import { resolved } from "../http.ts";
import { heldCookie } from "./held.ts";
import { endBefore, newProgress, noteStep, visitOf, type Progress } from "./progress.ts";
import { blankOf, post, unmarkedAt } from "./post-response.ts";
import { textOf, timeoutMs, untilShown, untilStill, whyStuck } from "./settled.ts";
import type { BrowserContext, Cookies, Page, Paused, Session } from "./playwright-types.ts";

/** Chromium, for apps that need scripts. Each address of the main frame is checked before it is opened, redirects too. */

/** A visit of Chromium. It ends at an address that may not be opened. */
interface Visiting extends Progress {
  end: End | null;
  /** The cookies when the response was delivered. */
  before: Cookies | null;
}

const visiting = (progress: Progress): Visiting => ({ ...progress, end: null, before: null });

/** A response that is posted to the app (OAuth 2.0 Form Post Response Mode). */
function postedAt({ redirectUris }: Places, { request }: Paused): AuthorizationResponse | null {
  if (request.method !== "POST" || redirectUris?.includes(request.url) === false) return null;
  return { redirectUri: request.url, mode: "form_post", parameters: new URLSearchParams(request.postData ?? "") };
}

/** Decides about an address before it is opened. @returns whether it may be */
function mayOpen(places: Places, progress: Visiting, paused: Paused): boolean {
  const url = new URL(paused.request.url + (paused.request.urlFragment ?? ""));
  progress.end ??= endBefore(places, progress, url, postedAt(places, paused));
  return progress.end === null;
}

/** Why no document may be fetched from an address, or null. Names of the app are bound to what was checked when Chromium starts. */
async function whyFar(places: Places, url: URL): Promise<Error | null> {
  if (isIdp(places, url) || !/^https?:$/.test(url.protocol)) return null;
  return resolved(url.hostname, places.lookup).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
  );
}

/** Cookies by what tells them apart. */
const byPlace = (cookies: Cookies): ReadonlyMap<string, string> =>
  new Map(cookies.map((one) => [[one.domain, one.path, one.name].join(";"), JSON.stringify(one)]));

const ofApps = (cookies: Cookies): Cookies => cookies.filter(({ name }) => !isOwnCookie(name));

/** Whether a cookie is new, or another than before. */
function isChanged(before: Cookies, after: Cookies): boolean {
  const known = byPlace(ofApps(before));
  return [...byPlace(ofApps(after))].some(([place, cookie]) => known.get(place) !== cookie);
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What a page said that it keeps; it may say anything. */
function namedValues(text: unknown): readonly NamedValue[] {
  const entries = typeof text === "string" ? jsonIn(text) : null;
  if (!Array.isArray(entries)) return [];
  return entries.flatMap((entry: unknown) => {
    const [name, value] = Array.isArray(entry) ? (entry as readonly unknown[]) : [];
    return typeof name === "string" && typeof value === "string" ? [{ name, value }] : [];
  });
}

export async function chromiumBrowser(places: Places, context: BrowserContext): Promise<Browser> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page as never);
  const { frameTree } = await session.send("Page.getFrameTree");
  let progress = visiting(newProgress(false, false, null));
  const sessionStorage: Record<string, readonly NamedValue[]> = {};
  let status = 0;
  const blank = blankOf(places);
  session.on("Fetch.requestPaused", (paused) => {
    const opens = paused.request.url === blank ? Promise.resolve(false) : decide(paused);
    void opens.then((may) => goOn(session, paused.requestId, may));
  });

  /** @returns whether the address may be opened */
  async function decide(paused: Paused): Promise<boolean> {
    const now = progress;
    const isMain = paused.frameId === frameTree.frame.id;
    const url = new URL(paused.request.url);
    // The main frame opens no foreign address anyway.
    const refusal = !isMain || isApp(places, url) ? await whyFar(places, url) : null;
    if (isMain && refusal !== null) now.end ??= { kind: "stuck", why: refusal.message, error: refusal };
    const opens = refusal === null && (!isMain || mayOpen(places, now, paused));
    if (isMain && now.delivered) now.before ??= await context.cookies();
    return opens;
  }
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*", resourceType: "Document" }] });
  page.on("response", (response) => {
    if (!response.request().isNavigationRequest() || response.frame() !== page.mainFrame()) return;
    if (response.url() === blank) return;
    const url = new URL(response.url());
    status = response.status();
    noteStep(progress, { url, isApp: isApp(places, url), status });
  });

  async function visit(begun: Progress, open: () => Promise<unknown>): Promise<Visit> {
    const now = visiting(begun);
    progress = now;
    const stuck = await open()
      .then(() => untilSettled(page, places, now, context))
      .then(
        () => null,
        (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
      );
    if (now.before !== null) now.changed = isChanged(now.before, await context.cookies());
    const end: End =
      now.end ??
      (stuck === null
        ? { kind: "page", url: page.url(), status, text: await textOf(page) }
        : { kind: "stuck", why: await whyStuck(page, stuck), error: stuck });
    if (end.kind === "page" && isApp(places, new URL(end.url))) await keepSession(end.url);
    return visitOf(now, end);
  }

  /** Only the page itself has its sessionStorage. */
  async function keepSession(url: string): Promise<void> {
    const text = await page.evaluate("JSON.stringify(Object.entries(sessionStorage))").catch(() => null);
    const entries = namedValues(text);
    if (entries.length > 0) sessionStorage[new URL(url).origin] = entries;
  }

  async function held(): Promise<Held> {
    const { cookies, origins } = await context.storageState();
    const own = new URL(places.issuer).origin;
    return {
      cookies: ofApps(cookies),
      origins: origins.filter(({ origin }) => origin !== own),
      sessionStorage,
    };
  }

  const goto = (address: string): Promise<unknown> =>
    page.goto(address, { waitUntil: "domcontentloaded", timeout: timeoutMs }).catch((error: unknown) => {
      // Chromium shows a page of its own for an error without a body; the response was noted.
      if (error instanceof Error && error.message.includes("ERR_HTTP_RESPONSE_CODE_FAILURE")) return;
      // A visit that ended at an address that may not be opened has not failed; nor has one that another page replaced.
      if (progress.end === null && !String(error).includes("interrupted by another navigation")) throw error;
    });
  return {
    signIn: (address, hold) => visit(newProgress(true, hold !== undefined, null), () => goto(address)),
    async deliver(response, from) {
      const unmarked = from === undefined ? undefined : await unmarkedAt(session, response.redirectUri);
      // A form of about:blank belongs to no site, so Chromium keeps the cookies back by itself.
      const origin = from === undefined ? blank : "about:blank";
      const visited = await visit(newProgress(true, false, response), () =>
        response.mode === "form_post" ? post(page, origin, response) : goto(addressOf(response)),
      );
      return { ...visited, ...(unmarked !== undefined && { unmarked }) };
    },
    look: (address) =>
      visit(newProgress(false, false, null), async () => {
        await goto(address);
        const { awaits } = places;
        if (awaits !== undefined && address === awaits.at && progress.end === null) await untilShown(page, awaits.text);
      }),
    held,
    async request(outgoing, from) {
      const carrier = new ScriptlessBrowser(() => ({ headers: { "accept-language": "en" }, lookup: places.lookup }));
      carrier.take(ofApps(await context.cookies()));
      const reply = await carrier.request(outgoing, from);
      await context.addCookies(carrier.keptOf(() => true).map(heldCookie));
      return reply;
    },
    take: (cookies) => context.addCookies(cookies),
    close: () => context.close(),
  };
}

/** Opens an address, or answers with an empty page in its place, so that nothing waits for it. */
async function goOn(session: Session, requestId: string, opens: boolean): Promise<void> {
  const answer = opens
    ? session.send("Fetch.continueRequest", { requestId })
    : session.send("Fetch.fulfillRequest", { requestId, responseCode: 200, responseHeaders: [], body: "" });
  // The page may be gone by now.
  await answer.catch(() => undefined);
}

/** A button that leads nowhere is pressed no more often. */
const maxPresses = 3;

const idpPage = "html[data-page][data-state]";

/** Waits until the browser comes to rest, and signs in at idp. */
async function untilSettled(page: Page, places: Places, progress: Visiting, context: BrowserContext): Promise<void> {
  let before = "";
  let presses = 0;
  while (progress.end === null) {
    if (progress.request !== null && !progress.delivered) {
      // The page of idp is there, or will be soon.
      await page.locator(idpPage).waitFor({ state: "attached", timeout: timeoutMs });
      if (places.cancels === true) await cancel(page);
      else if (await isWithoutPicker(page, places)) await enter(page, places, context);
      else await signIn(page, { user: places.user, timeout: timeoutMs, ...(places.code && { otp: "auto" }) });
      continue;
    }
    // A page without scripts goes nowhere by itself.
    const hasScripts = (await page.locator("script").count()) > 0;
    if (hasScripts) await untilStill(page);
    const after = page.url();
    if (progress.request !== null && !progress.delivered) continue;
    if (hasScripts || after === before) {
      const mayPress = progress.signsIn && progress.request === null && presses < maxPresses;
      if (!mayPress || !(await pressButton(page, places))) return;
      presses += 1;
    }
    before = after;
  }
}

/** Presses Cancel at the login page. The page that follows posts by itself. */
async function cancel(page: Page): Promise<void> {
  const button = page.locator("#login-cancel");
  if ((await button.count()) > 0) await button.click({ timeout: timeoutMs });
  await button.waitFor({ state: "detached", timeout: timeoutMs });
}

/** Whether it is a login page on which nobody can be picked. */
async function isWithoutPicker(page: Page, { begin }: Places): Promise<boolean> {
  const where = await whereIs(page, null);
  if (begin === undefined || where?.page !== "login" || where.state === "reauth") return false;
  return (await page.locator(hook("login-picker")).count()) === 0;
}

/** Begins the user's session in this browser, and answers the pages that follow. */
async function enter(page: Page, { user, begin, code }: Places, context: BrowserContext): Promise<void> {
  const login = page.url();
  const csrf = await page.locator("input[name=csrf]").first().getAttribute("value");
  const value = await begin?.(uidOf(login) ?? "", csrf ?? "");
  const known = (await context.cookies(login)).find(({ name }) => sessionCookieOf(name) !== null);
  const name = sessionCookieOf(known?.name ?? "");
  if (known === undefined || name === null || value === undefined) throw new Error(`no session can begin at ${login}`);
  await context.addCookies([{ ...known, name, value }]);
  const { origin } = new URL(login);
  await page.goto(afterLogin(login), { waitUntil: "domcontentloaded", timeout: timeoutMs });
  for (let where = await whereIs(page, origin); where !== null;) {
    if (where.page === "consent") {
      const allow = page.locator(hook("consent-allow"));
      where = await next(page, origin, timeoutMs, "allowing", (pressing) => allow.click(pressing));
    } else if (where.page === "factor" && where.state !== "passkey" && !where.state.startsWith("error-") && code) {
      const field = page.locator(hook("factor-otp"));
      await field.fill(await code(), { timeout: timeoutMs });
      where = await next(page, origin, timeoutMs, "the one-time code", (pressing) => field.press("Enter", pressing));
    } else {
      throw await refusal(page, where, `the page needs a password or a passkey of ${user}`);
    }
  }
}

/** Presses the button of the app's sign-in page: the one that was named, or a single one. */
async function pressButton(page: Page, { startButton }: Places): Promise<boolean> {
  const named = JSON.stringify(startButton ?? "");
  const buttons = page.locator(
    startButton === undefined
      ? "button:visible, input[type=submit]:visible, a[role=button]:visible"
      : `button:visible:text-is(${named}), a:visible:text-is(${named}), input[type=submit][value=${named}]:visible`,
  );
  const count = await buttons.count();
  if (count === 0 || (startButton === undefined && count > 1)) return false;
  await buttons.first().click({ timeout: timeoutMs });
  return true;
}
