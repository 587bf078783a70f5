import { setTimeout as delay } from "node:timers/promises";
import type { JsonObject } from "../text/json.ts";
import type { ScriptlessBrowser } from "./browser.ts";
import { Problem } from "./check.ts";
import { jsonOf, maxSteps, requireWebAddress, send, type Outgoing, type Reply } from "./http.ts";
import { answerTo, pageOf, postedParameters } from "./pages.ts";
import { walk } from "./walk.ts";

/** Signs a user in at an app, in a program: redirects, cookies, and the pages of idp. For tests that need no browser. */

export interface SignInWithoutBrowserOptions {
  /** The username; the user is picked from the list on the login page. */
  readonly user: string;
  /** Allow (true, the default) or deny (false) on the consent page. */
  readonly approve?: boolean;
  /** The one-time code, where the app asks for one; `auto`: the one that the page shows. */
  readonly otp?: string;
}

/** Where the sign-in ended, and the browser that it ended in. */
export interface SignedInWithoutBrowser {
  /** The address of the last page, an address of the app. */
  readonly url: string;
  /** The HTTP status of that page. */
  readonly status: number;
  /** The cookies for `url`, by their names. */
  readonly cookies: Readonly<Record<string, string>>;
  /** As the global `fetch`, with the cookies of this browser: they are sent and kept, also across redirects. */
  readonly fetch: (input: string | URL, init?: RequestInit) => Promise<Response>;
}

/** Seconds until a new one-time code is valid (RFC 6238), and a little more. */
const maxWaits = 35;

/**
 * Signs a user in at an app, as a browser without scripts does. Forms are filled in only on the pages of the idp that the app sends the
 * browser to; elsewhere it follows redirects.
 * @param url the address behind the app's sign-in button
 * @throws {Error} if the sign-in cannot go on, with the reason
 */
export async function signInWithoutBrowser(
  url: string | URL,
  { user, approve = true, otp }: SignInWithoutBrowserOptions,
): Promise<SignedInWithoutBrowser> {
  // Loaded only here: it brings the cookie library, which nobody else who imports this package should wait for.
  const module = await import("./browser.ts");
  let idp: string | null = null;
  const browser = new module.ScriptlessBrowser(({ origin }) => ({
    headers: { accept: origin === idp ? "application/json" : "text/html,*/*;q=0.8" },
  }));

  /** The page, once it shows a one-time code that was not used yet. */
  async function withCode(page: JsonObject, address: string): Promise<JsonObject> {
    let latest = page;
    for (let waits = 0; latest["page"] === "factor" && latest["code"] === null && waits < maxWaits; waits += 1) {
      await delay(1000);
      latest = pageOf(await browser.request({ method: "GET", url: address }, null));
    }
    return latest;
  }

  async function answer(reply: Reply): Promise<Outgoing> {
    const first = pageOf(reply);
    const redirectUri = String(first["action"]);
    const form = postedParameters(first, redirectUri);
    if (form !== null) {
      return { method: "POST", url: requireWebAddress("the page leads to", redirectUri).href, form };
    }
    const page = otp === "auto" ? await withCode(first, reply.url) : first;
    const code = otp === "auto" ? page["code"] : otp;
    return answerTo(page, reply.url, {
      user,
      decision: approve ? "allow" : "deny",
      code: typeof code === "string" ? () => Promise.resolve(code) : null,
    });
  }

  /** The AuthnRequest that a page of the app posts to an idp (SAML Bindings 3.5); null: it posts none. */
  async function postedRequest({ text, url: address }: Reply): Promise<Outgoing | null> {
    if (!text.includes("SAMLRequest")) return null;
    const { onlyForm } = await import("./app/html.ts");
    const form = onlyForm(text, address);
    if (form?.fields.has("SAMLRequest") !== true) return null;
    idp ??= await idpAt(form.action);
    return new URL(form.action).origin === idp ? { method: "POST", url: form.action, form: form.fields } : null;
  }

  const { url: end, status } = await walk<Reply>(
    browser,
    { method: "GET", url: requireWebAddress("a sign-in begins at", String(url)).href },
    {
      async before(next) {
        if (isRequest(new URL(next.url))) idp ??= await idpAt(next.url);
        return null;
      },
      page: async (reply) =>
        new URL(reply.url).origin === idp ? answer(reply) : ((await postedRequest(reply)) ?? { end: reply }),
    },
  );
  return { url: end, status, cookies: browser.cookies(new URL(end)), fetch: fetchWith(browser) };
}

/** Whether a sign-in begins there: an authorization request, an AuthnRequest by HTTP-Redirect, or a sign-in by SAML that begins at the idp. */
function isRequest({ pathname, searchParams: sent }: URL): boolean {
  // GitHub's apps may leave response_type out.
  const isGithub = pathname.endsWith("/login/oauth/authorize");
  const isOAuth = sent.has("client_id") && (sent.has("response_type") || sent.has("request_uri") || isGithub);
  return isOAuth || sent.has("SAMLRequest") || (pathname.endsWith("/saml/start") && sent.has("sp"));
}

/** The origin of an address, where it is that of an idp; else null. */
async function idpAt(address: string): Promise<string | null> {
  const { origin } = new URL(address);
  const health = await send({ method: "GET", url: `${origin}/_idp/health` });
  if (health.status !== 200 || !String(health.headers["content-type"]).startsWith("application/json")) return null;
  return jsonOf(health)["status"] === "ok" ? origin : null;
}

/** Statuses of redirects (Fetch 2.2.3). */
const redirects = [301, 302, 303, 307, 308];

/** Headers that are for one origin alone, and those that describe a body. */
const ofOrigin = ["authorization", "cookie", "proxy-authorization", "host"];
const ofBody = ["content-encoding", "content-language", "content-location", "content-type", "content-length"];

/** The next request of a redirect (Fetch 4.4, HTTP-redirect fetch). */
function redirected(init: RequestInit, status: number, from: URL, to: URL): RequestInit {
  const headers = new Headers(init.headers);
  if (to.origin !== from.origin) for (const name of ofOrigin) headers.delete(name);
  const method = (init.method ?? "GET").toUpperCase();
  const becomesGet =
    status === 303 ? method !== "GET" && method !== "HEAD" : [301, 302].includes(status) && method === "POST";
  if (!becomesGet) return { ...init, headers };
  for (const name of ofBody) headers.delete(name);
  const { body: _, method: __, ...rest } = init;
  return { ...rest, headers };
}

function fetchWith(browser: ScriptlessBrowser): SignedInWithoutBrowser["fetch"] {
  return async (input, init = {}) => {
    let target = new URL(input);
    let current: RequestInit = init;
    for (let step = 0; step < maxSteps; step += 1) {
      const headers = new Headers(current.headers);
      const cookie = browser.cookieHeader(target);
      if (cookie !== "") headers.set("cookie", cookie);
      const response = await fetch(target, { ...current, headers, redirect: "manual" });
      browser.keep(target, response.headers.getSetCookie());
      const location = response.headers.get("location");
      if (!redirects.includes(response.status) || location === null || init.redirect === "manual") return response;
      if (init.redirect === "error") throw new Problem(`${target.href} redirects, and redirect is "error"`);
      const next = requireWebAddress(`${target.href} redirects to`, location, target.href);
      current = redirected(current, response.status, target, next);
      target = next;
    }
    throw new Problem(`${String(input)} redirects in a circle: ${maxSteps} steps, and no end`);
  };
}
