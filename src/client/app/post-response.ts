import { timeoutMs } from "./settled.ts";
import type { Page, Session } from "./playwright-types.ts";
import { isOwnCookie, type AuthorizationResponse, type Places } from "./visit.ts";

/** Posts a response to an app in Chromium. Where the form is decides which cookies go along (RFC 6265bis 5.2). */

/** A page of idp, as Chromium sees it: it is answered in the browser. A sign-in comes from there, and so does what a case brings. */
export const blankOf = ({ issuer }: Places): string => new URL("/check/response", issuer).href;

/** @param from the address of the page that has the form */
export async function post(
  page: Page,
  from: string,
  { redirectUri, parameters }: AuthorizationResponse,
): Promise<void> {
  const inputs = Array.from(
    parameters,
    ([name, value]) => `<input name="${attribute(name)}" value="${attribute(value)}">`,
  );
  await page.goto(from);
  await page.setContent(
    `<form method="post" action="${attribute(redirectUri)}">${inputs.join("")}<button>Go</button></form>`,
  );
  await page.locator("button").click({ timeout: timeoutMs });
}

const attribute = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

/** The app's cookies that go to an address and say nothing of SameSite. Playwright says of these that they are Lax. */
export async function unmarkedAt(session: Session, url: string): Promise<readonly string[]> {
  const { cookies } = (await session.send("Network.getCookies", { urls: [url] })) as {
    readonly cookies: readonly { readonly name: string; readonly sameSite?: string }[];
  };
  return cookies.flatMap(({ name, sameSite }) => (sameSite === undefined && !isOwnCookie(name) ? [name] : []));
}
