import { OperationError } from "./core/errors.ts";
import { CookieJar } from "./client/app-check/cookie-jar.ts";
import { refreshOf } from "./client/app-check/html.ts";
import { Problem } from "./client/check.ts";
import { send, type Outgoing, type Reply } from "./client/http.ts";
import { answerPage, pageOf, postedParameters } from "./client/pages.ts";

/** Signs a user in to an app as a browser without scripts does: for tests of apps that need no browser. */

export interface SignInWithoutBrowserOptions {
  /** The username. It is picked on the login page, so the server must show the picker. */
  readonly user: string;
  /** Which button to press on the consent page: Allow (true, the default) or Deny (false). */
  readonly approve?: boolean;
}

/** Where the sign-in ended. */
export interface SignedInWithoutBrowser {
  /** The address of the last page, which is the app's. */
  readonly url: string;
  readonly status: number;
  /** The cookies that this page gets, by name. */
  readonly cookies: Readonly<Record<string, string>>;
  /** Requests with the cookies of the sign-in, as the browser would send them; relative addresses are the app's. Redirects are followed. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

/** A sign-in takes a few steps; many more are an endless circle. */
const maxSteps = 40;

const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/**
 * Opens an address of an app, follows its redirects, and answers the pages of `idp` for a user: login and consent. Elsewhere no form is filled
 * in; only a response that `idp` posts (`form_post`) is delivered.
 * @param url an address of the app that leads to the sign-in
 * @throws {OperationError} refused if the sign-in does not end at the app
 */
export async function signInWithoutBrowser(
  url: string | URL,
  { user, approve = true }: SignInWithoutBrowserOptions,
): Promise<SignedInWithoutBrowser> {
  const jar = new CookieJar(Date.now);
  const known = new Map<string, boolean>();

  /** Whether a server at an origin says that it is an `idp`. */
  async function isIdp({ origin }: URL): Promise<boolean> {
    const before = known.get(origin);
    if (before !== undefined) return before;
    const answer = await send({ method: "GET", url: `${origin}/_idp/health` }).catch(() => null);
    const own = answer !== null && answer.text.includes('"issuer":"') && answer.text.includes(`"${origin}`);
    known.set(origin, own);
    return own;
  }

  async function request(outgoing: Outgoing, from: string | null): Promise<Reply> {
    const to = new URL(outgoing.url);
    const cookie = jar.headerFor(to);
    const reply = await send({
      ...outgoing,
      url: to.href.replace(/#.*$/s, ""),
      headers: {
        accept: (await isIdp(to)) ? "application/json" : html,
        ...(cookie !== "" && { cookie }),
        // As in browsers, only a POST says where it comes from.
        ...(outgoing.method === "POST" && from !== null && { origin: new URL(from).origin }),
      },
    });
    jar.keep(to, reply.headers["set-cookie"] ?? []);
    return { ...reply, url: to.href };
  }

  /** What comes after a page of `idp`. */
  async function afterIdp(reply: Reply): Promise<Outgoing> {
    const page = pageOf(reply);
    const action = String(page["action"]);
    const form = postedParameters(page, action);
    if (form !== null) return { method: "POST", url: action, form };
    const decider = { user, decision: approve ? ("allow" as const) : ("deny" as const) };
    const moved = await answerPage(page, decider, (href, sent) =>
      request({ method: "POST", url: new URL(href, reply.url).href, form: sent }, reply.url),
    );
    return nextOf(moved) ?? afterIdp(moved);
  }

  async function walk(): Promise<Reply> {
    let next: Outgoing = { method: "GET", url: new URL(url).href };
    let from: string | null = null;
    for (let count = 0; count < maxSteps; count += 1) {
      const reply = await request(next, from);
      from = reply.url;
      const moved = nextOf(reply);
      if (moved === null && !(await isIdp(new URL(reply.url)))) return reply;
      next = moved ?? (await afterIdp(reply));
    }
    throw new Problem(`the browser was sent from address to address ${maxSteps} times`);
  }

  const last = await walk().catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    throw new OperationError("refused", `${user} could not sign in at ${new URL(url).origin}: ${error.message}`, {
      cause: error,
    });
  });
  const pairs = jar.headerFor(new URL(last.url)).split("; ").filter(Boolean);
  return {
    url: last.url,
    status: last.status,
    cookies: Object.fromEntries(
      pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    ),
    fetch: (address, init) => fetchWith(jar, new URL(address, last.url), init),
  };
}

/** The address of a redirect or of a page that goes on by itself; null for another page. */
function nextOf({ url, status, headers, text }: Reply): Outgoing | null {
  const { location } = headers;
  const target =
    status >= 300 && status < 400 && location !== undefined
      ? new URL(location, url).href
      : status < 400
        ? refreshOf(text, url)
        : null;
  return target === null || target === url ? null : { method: "GET", url: target };
}

async function fetchWith(jar: CookieJar, first: URL, init: RequestInit = {}): Promise<Response> {
  let url = first;
  let sent: RequestInit = init;
  for (let count = 0; count < maxSteps; count += 1) {
    const headers = new Headers(sent.headers);
    const cookie = jar.headerFor(url);
    if (cookie !== "" && !headers.has("cookie")) headers.set("cookie", cookie);
    const response = await fetch(url, { ...sent, headers, redirect: "manual" });
    jar.keep(url, response.headers.getSetCookie());
    const location = response.headers.get("location");
    if (location === null || response.status < 300 || response.status >= 400 || init.redirect === "manual")
      return response;
    url = new URL(location, url);
    // As browsers do (Fetch 4.4): what follows is a GET, unless the status says otherwise.
    if (![307, 308].includes(response.status)) sent = { ...(init.headers !== undefined && { headers: init.headers }) };
  }
  throw new OperationError("refused", `${first.href} redirects more than ${maxSteps} times`);
}
