import { Cookie, CookieJar } from "tough-cookie";
import { keptCookie } from "./app/held.ts";
import type { HeldCookie } from "./app/visit.ts";
import { requireWebAddress, send, type Outgoing, type Reply } from "./http.ts";

/** A browser without scripts: it keeps cookies, sends forms, and goes where redirects lead, one request at a time. */

export class ScriptlessBrowser {
  /** RFC 6265: ports do not matter, and the loopback is as good as https. */
  readonly #jar = new CookieJar();
  /** The address that set each cookie. */
  readonly #setBy = new Map<string, URL>();
  /** How many cookies were set; those that were removed do not count. */
  sets = 0;
  readonly #defaults: (url: URL) => Partial<Outgoing>;
  /** Which cookies a request leaves out, as where it begins at another site. */
  leavesOut: (cookie: Cookie, method: string) => boolean = () => false;

  /** @param defaults what a request to a URL has, unless it says otherwise: headers, and how names are resolved */
  constructor(defaults: (url: URL) => Partial<Outgoing> = () => ({})) {
    this.#defaults = defaults;
  }

  /** Sends a request with its cookies, and keeps those of the answer. @param from the page that leads there; null if none does @throws {Problem} */
  async request(outgoing: Outgoing, from: string | null): Promise<Reply> {
    const url = requireWebAddress(from === null ? "a request goes to" : `${from} leads to`, outgoing.url);
    const { headers, ...defaults } = this.#defaults(url);
    const cookie = this.cookieHeader(url, outgoing.method);
    const reply = await send({
      ...defaults,
      ...outgoing,
      url: url.href.replace(/#.*$/s, ""),
      headers: {
        ...headers,
        ...(cookie !== "" && { cookie }),
        // As in browsers, only a POST says where it comes from. Frameworks compare that with the app's own origin.
        ...(outgoing.method === "POST" && from !== null && { origin: new URL(from).origin }),
        ...outgoing.headers,
      },
    });
    this.keep(url, reply.headers["set-cookie"] ?? []);
    return reply;
  }

  /** The `Cookie` header of a request; empty without cookies. */
  cookieHeader(url: URL, method = "GET"): string {
    const sent = this.#jar.getCookiesSync(url.href).filter((cookie) => !this.leavesOut(cookie, method));
    return sent.map((cookie) => cookie.cookieString()).join("; ");
  }

  /** The cookies for a URL, by their names. */
  cookies(url: URL): Record<string, string> {
    return Object.fromEntries(this.#jar.getCookiesSync(url.href).map(({ key, value }) => [key, value]));
  }

  /** Keeps the cookies that an answer set, as far as they may be set there. @param lines of `Set-Cookie` */
  keep(url: URL, lines: readonly string[]): void {
    for (const line of lines) {
      const cookie = Cookie.parse(line);
      if (cookie === undefined) continue;
      // RFC 6265 5.3, item 5: a public suffix may set a cookie for itself alone, such as `web`, the name of a container.
      if (cookie.domain === url.hostname && !url.hostname.includes(".")) cookie.domain = null;
      const kept = this.#jar.setCookieSync(cookie, url.href, { ignoreError: true });
      if (kept === undefined || kept.TTL() <= 0) continue;
      this.#setBy.set(placeOf(kept), url);
      this.sets += 1;
    }
  }

  /** The cookies that addresses set for which `isOf` holds. @param url only those that are sent there */
  keptOf(isOf: (setBy: URL) => boolean, url?: URL): readonly Cookie[] {
    const all = url === undefined ? this.#all() : this.#jar.getCookiesSync(url.href);
    return all.filter((cookie) => {
      const setBy = this.#setBy.get(placeOf(cookie));
      return setBy !== undefined && cookie.TTL() > 0 && isOf(setBy);
    });
  }

  /** Takes cookies that another browser held. */
  take(cookies: readonly HeldCookie[]): void {
    for (const held of cookies) {
      const [cookie, url] = keptCookie(held);
      const kept = this.#jar.setCookieSync(cookie, url.href, { ignoreError: true });
      if (kept !== undefined) this.#setBy.set(placeOf(kept), url);
    }
  }

  #all(): readonly Cookie[] {
    const { cookies } = this.#jar.serializeSync() ?? { cookies: [] };
    return cookies.flatMap((one) => Cookie.fromJSON(one) ?? []);
  }

  /** Sets a cookie beside one that an address set: with its attributes, and another name and value. */
  setBeside({ key }: Pick<Cookie, "key">, name: string, value: string, url: URL): void {
    const like = this.#jar.getCookiesSync(url.href).find((one) => one.key === key);
    if (like === undefined) return;
    const cookie = like.clone();
    if (cookie === undefined) return;
    cookie.key = name;
    cookie.value = value;
    this.#jar.setCookieSync(cookie, url.href);
    this.#setBy.set(placeOf(cookie), url);
  }
}

/** What tells cookies apart (RFC 6265 5.3, item 11). */
const placeOf = ({ domain, path, key }: Cookie): string => [domain, path, key].join(";");
