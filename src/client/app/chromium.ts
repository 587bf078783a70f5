import { signIn } from "../../playwright.ts";
import {
  addressOf,
  isApp,
  isIdp,
  type AuthorizationResponse,
  type Browser,
  type End,
  type Places,
  type Visit,
} from "./visit.ts";
import { resolved } from "../http.ts";
import { endBefore, newProgress, type Progress } from "./progress.ts";
import type { BrowserContext, Page, Paused, Session } from "./playwright-types.ts";

/** Chromium, for apps that need scripts. Each address of the main frame is checked before it is opened, redirects too. */

/** Milliseconds that a page may take to come to rest. */
const timeoutMs = 10_000;

/** A visit of Chromium. It ends at an address that may not be opened. */
interface Visiting extends Progress {
  end: End | null;
}

/** A response that is posted to the app (OAuth 2.0 Form Post Response Mode). */
function postedAt({ redirectUris }: Places, { request }: Paused): AuthorizationResponse | null {
  if (request.method !== "POST" || !redirectUris.includes(request.url)) return null;
  return { redirectUri: request.url, mode: "form_post", parameters: new URLSearchParams(request.postData ?? "") };
}

/** Decides about an address before it is opened. @returns whether it may be */
function mayOpen(places: Places, progress: Visiting, paused: Paused): boolean {
  const url = new URL(paused.request.url + (paused.request.urlFragment ?? ""));
  progress.end ??= endBefore(places, progress, url, postedAt(places, paused));
  return progress.end === null;
}

/** Why no document may be fetched from an address, or null. Names of the app are bound to what was checked when Chromium starts. */
async function whyFar(places: Places, url: URL): Promise<string | null> {
  if (isIdp(places, url) || !/^https?:$/.test(url.protocol)) return null;
  return resolved(url.hostname, places.lookup).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

export async function chromiumBrowser(places: Places, context: BrowserContext): Promise<Browser> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page as never);
  const { frameTree } = await session.send("Page.getFrameTree");
  let progress: Visiting = { ...newProgress(false, false, null), end: null };
  let status = 0;
  session.on("Fetch.requestPaused", (paused) => {
    void decide(paused).then((opens) => goOn(session, paused.requestId, opens));
  });

  /** @returns whether the address may be opened */
  async function decide(paused: Paused): Promise<boolean> {
    const visiting = progress;
    const isMain = paused.frameId === frameTree.frame.id;
    const url = new URL(paused.request.url);
    // The main frame opens no foreign address anyway.
    const refusal = !isMain || isApp(places, url) ? await whyFar(places, url) : null;
    if (isMain && refusal !== null) visiting.end ??= { kind: "stuck", why: refusal };
    return refusal === null && (!isMain || mayOpen(places, visiting, paused));
  }
  await session.send("Fetch.enable", { patterns: [{ urlPattern: "*", resourceType: "Document" }] });
  page.on("response", (response) => {
    if (!response.request().isNavigationRequest() || response.frame() !== page.mainFrame()) return;
    const url = new URL(response.url());
    status = response.status();
    progress.steps.push({ url, isApp: isApp(places, url), status });
  });

  async function visit(begun: Progress, open: () => Promise<unknown>): Promise<Visit> {
    const next: Visiting = { ...begun, end: null };
    progress = next;
    const stuck = await open()
      .then(() => untilSettled(page, places, next))
      .then(
        () => null,
        (error: unknown) => (error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)),
      );
    const { steps, request, response } = next;
    const end: End =
      next.end ??
      (stuck === null
        ? { kind: "page", url: page.url(), status, text: await textOf(page) }
        : { kind: "stuck", why: stuck });
    return { steps, request, response, end };
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
    deliver: (response) =>
      visit(newProgress(true, false, response), () =>
        response.mode === "form_post" ? post(page, response) : goto(addressOf(response)),
      ),
    look: (address) => visit(newProgress(false, false, null), () => goto(address)),
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

const idpPage = "html[data-page][data-state]";

/** Waits until the browser comes to rest, and signs in at idp. */
async function untilSettled(page: Page, places: Places, progress: Visiting): Promise<void> {
  let before = "";
  while (progress.end === null) {
    if (progress.request !== null && !progress.delivered) {
      // The page of idp is there, or will be soon.
      await page.locator(idpPage).waitFor({ state: "attached", timeout: timeoutMs });
      if (places.cancels === true) await cancel(page);
      else await signIn(page, { user: places.user, timeout: timeoutMs });
      continue;
    }
    // A page without scripts goes nowhere by itself.
    if ((await page.locator("script").count()) > 0) await page.waitForLoadState("networkidle", { timeout: timeoutMs });
    const after = page.url();
    if (progress.request !== null && !progress.delivered) continue;
    if (after === before && !(progress.signsIn && progress.request === null && (await pressOnlyButton(page)))) return;
    before = after;
  }
}

/** Presses Cancel at the login page. The page that follows posts by itself. */
async function cancel(page: Page): Promise<void> {
  const button = page.locator("#login-cancel");
  if ((await button.count()) > 0) await button.click({ timeout: timeoutMs });
  await button.waitFor({ state: "detached", timeout: timeoutMs });
}

/** A page with a single button is taken for the app's sign-in page. */
async function pressOnlyButton(page: Page): Promise<boolean> {
  const buttons = page.locator("button:visible, input[type=submit]:visible, a[role=button]:visible");
  if ((await buttons.count()) !== 1) return false;
  await buttons.click({ timeout: timeoutMs });
  return true;
}

async function post(page: Page, { redirectUri, parameters }: AuthorizationResponse): Promise<void> {
  const inputs = Array.from(
    parameters,
    ([name, value]) => `<input name="${attribute(name)}" value="${attribute(value)}">`,
  );
  await page.goto("about:blank");
  await page.setContent(
    `<form method="post" action="${attribute(redirectUri)}">${inputs.join("")}<button>Go</button></form>`,
  );
  await page.locator("button").click({ timeout: timeoutMs });
}

const attribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** What a person reads. */
const textOf = (page: Page): Promise<string> => page.locator("body").innerText({ timeout: timeoutMs });
