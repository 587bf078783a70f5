import type { Cookie } from "tough-cookie";
import { ScriptlessBrowser } from "../browser.ts";
import { Problem } from "../check.ts";
import type { Outgoing, Reply } from "../http.ts";
import { answerTo, pageOf, postedParameters } from "../pages.ts";
import { walk, type Next } from "../walk.ts";
import {
  addressOf,
  afterLogin,
  isIdp,
  isOwnCookie,
  sessionCookieOf,
  uidOf,
  type Browser,
  type End,
  type Places,
  type Visit,
} from "./visit.ts";
import { heldCookie } from "./held.ts";
import { formWith, linkWith, onlyForm, refreshOf } from "./html.ts";
import { endBefore, newProgress, noteStep, visitOf, type Progress } from "./progress.ts";

/** A browser without scripts: cookies, redirects and forms. It opens nothing but the app and idp. */

const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

const stuck = (why: string, error?: unknown): End => ({ kind: "stuck", why, error });
const get = (url: string): Outgoing => ({ method: "GET", url });

export function smallBrowser(places: Places): Browser {
  const browser = new ScriptlessBrowser((url) => {
    const headers = { "accept-language": "en", "user-agent": "Mozilla/5.0 (compatible; idp check)" };
    // The server of the check is where the operator says it is.
    return isIdp(places, url)
      ? { headers: { accept: "application/json", ...headers } }
      : { headers: { accept: html, ...headers }, lookup: places.lookup };
  });

  /** What comes after a page of idp. */
  function afterIdp(reply: Reply, progress: Progress): Promise<Outgoing> | Outgoing {
    const page = pageOf(reply);
    const redirectUri = String(page["action"]);
    const parameters = postedParameters(page, redirectUri);
    if (parameters !== null) {
      progress.response = { redirectUri, mode: "form_post", parameters };
      return { method: "POST", url: redirectUri, form: parameters };
    }
    return answerTo(page, reply.url, {
      user: places.user,
      decision: places.cancels === true ? "cancel" : "allow",
      code: places.code ?? null,
      begin: places.begin === undefined ? undefined : beginSession,
    });
  }

  async function beginSession(address: string, csrf: string): Promise<string> {
    const url = new URL(address);
    const known = browser.keptOf((setBy) => isIdp(places, setBy), url).find(({ key }) => sessionCookieOf(key) !== null);
    const name = sessionCookieOf(known?.key ?? "");
    const value = await places.begin?.(uidOf(address) ?? "", csrf);
    if (known === undefined || name === null || value === undefined)
      throw new Problem(`no session can begin at ${url.pathname}`);
    browser.setBeside(known, name, value, url);
    return afterLogin(address);
  }

  /** What comes after a page of the app. */
  function afterApp({ url, status, text, headers }: Reply, { signsIn, delivered }: Progress): Next<End> {
    const end: Next<End> = { end: { kind: "page", url, status, text } };
    if (status >= 400 || !(headers["content-type"] ?? "").includes("html")) return end;
    const refresh = refreshOf(text, url);
    if (refresh !== null && refresh !== url) return get(refresh);
    // A page that the app shows after the sign-in ends the visit, whatever form is on it.
    if (!signsIn || delivered) return end;
    const { startButton } = places;
    const link = startButton === undefined ? null : linkWith(text, url, startButton);
    if (link !== null) return get(link);
    const form = startButton === undefined ? onlyForm(text, url) : formWith(text, url, startButton);
    if (form === null) return end;
    if ("isGet" in form && form.isGet) return get(withQuery(form.action, form.fields));
    return { method: "POST", url: form.action, form: form.fields };
  }

  /** How many cookies were set before. */
  let sets = 0;
  const walkFrom = (first: Outgoing, progress: Progress): Promise<End> =>
    walk<End>(
      browser,
      first,
      {
        before(next) {
          const posted = progress.response?.mode === "form_post" ? progress.response : null;
          const end = endBefore(places, progress, new URL(next.url), posted);
          if (end !== null) return { end };
          return progress.response?.mode === "fragment"
            ? { end: stuck("the response is in the fragment of the address, which only scripts read: add --browser") }
            : null;
        },
        answered({ url, status }) {
          const address = new URL(url);
          const isOfApp = !isIdp(places, address);
          noteStep(progress, { url: address, isApp: isOfApp, status });
          if (progress.delivered && isOfApp && browser.sets > sets) progress.changed = true;
          ({ sets } = browser);
        },
        page: (reply) => (isIdp(places, new URL(reply.url)) ? afterIdp(reply, progress) : afterApp(reply, progress)),
      },
      progress.delivered ? places.issuer : null,
    );

  async function visit(first: Outgoing, progress: Progress): Promise<Visit> {
    const end = await walkFrom(first, progress).catch((error: unknown) => {
      if (error instanceof Problem) return stuck(error.message, error);
      throw error;
    });
    return visitOf(progress, end);
  }

  return {
    signIn: (address, hold) => visit(get(address), newProgress(true, hold !== undefined, null)),
    async deliver(response, from) {
      const { mode, redirectUri: url, parameters: form } = response;
      const first: Outgoing = mode === "form_post" ? { method: "POST", url, form } : get(addressOf(response));
      const begun = newProgress(true, false, response);
      if (from === undefined) return visit(first, begun);
      const unmarked = browser
        .keptOf((setBy) => !isIdp(places, setBy), new URL(url))
        .flatMap(({ key, sameSite }) => (sameSite === undefined ? [key] : []));
      browser.leavesOut = keptBack;
      try {
        return { ...(await visit(first, begun)), unmarked };
      } finally {
        browser.leavesOut = () => false;
      }
    },
    look: (address) => visit(get(address), newProgress(false, false, null)),
    held: () => {
      const cookies = browser.keptOf((setBy) => !isIdp(places, setBy)).filter(({ key }) => !isOwnCookie(key));
      return Promise.resolve({ cookies: cookies.map(heldCookie), origins: [], sessionStorage: {} });
    },
    request: (outgoing, from) => browser.request(outgoing, from),
    take: (cookies) => {
      browser.take(cookies);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
}

/** Whether a browser keeps a cookie back that was set at another site than where the request begins (RFC 6265bis 5.6.7, 8.8). */
function keptBack({ key, sameSite = "", secure }: Cookie, method: string): boolean {
  if (isOwnCookie(key)) return false;
  const value = sameSite.toLowerCase();
  return value === "strict" || (value === "lax" && method === "POST") || (value === "none" && !secure);
}

/** A form that is sent by GET replaces the query (HTML 4.10.21.3). */
function withQuery(action: string, fields: URLSearchParams): string {
  const url = new URL(action);
  url.search = fields.toString();
  return url.href;
}
