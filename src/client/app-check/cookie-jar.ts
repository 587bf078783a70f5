import { isLoopbackUrl } from "../../net/address.ts";

/** The cookies of one browser (RFC 6265 5). Ports do not matter, as in every browser. */

interface Kept {
  readonly name: string;
  readonly value: string;
  readonly domain: string;
  /** Sent only to this host, not to those below it. */
  readonly hostOnly: boolean;
  readonly path: string;
  readonly secure: boolean;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Browsers treat the loopback as secure. */
const isSecure = (url: URL): boolean => url.protocol === "https:" || isLoopbackUrl(url.href);

const domainMatches = (host: string, domain: string): boolean => host === domain || host.endsWith(`.${domain}`);

const pathMatches = (path: string, cookiePath: string): boolean =>
  path === cookiePath || path.startsWith(cookiePath.endsWith("/") ? cookiePath : `${cookiePath}/`);

/** RFC 6265 5.1.4. */
const defaultPath = ({ pathname }: URL): string => pathname.slice(0, Math.max(1, pathname.lastIndexOf("/")));

export class CookieJar {
  #kept: readonly Kept[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The `Cookie` header of a request; empty without cookies. */
  headerFor(url: URL): string {
    this.#kept = this.#kept.filter(({ expires }) => expires > this.#now());
    const sent = this.#kept.filter(
      ({ domain, hostOnly, path, secure }) =>
        (hostOnly ? url.hostname === domain : domainMatches(url.hostname, domain)) &&
        pathMatches(url.pathname, path) &&
        (!secure || isSecure(url)),
    );
    // The longer path goes first (RFC 6265 5.4).
    const ordered = [...sent].sort((one, other) => other.path.length - one.path.length);
    return ordered.map(({ name, value }) => `${name}=${value}`).join("; ");
  }

  /** Keeps what a response set. @param lines of `Set-Cookie` */
  keep(url: URL, lines: readonly string[]): void {
    for (const line of lines) {
      const cookie = this.#cookieOf(url, line);
      if (cookie === null) continue;
      const { name, domain, path } = cookie;
      const others = this.#kept.filter((one) => one.name !== name || one.domain !== domain || one.path !== path);
      this.#kept = [...others, cookie];
    }
  }

  #cookieOf(url: URL, line: string): Kept | null {
    const [pair = "", ...rest] = line.split(";");
    const at = pair.indexOf("=");
    const [name, value] = [pair.slice(0, Math.max(0, at)).trim(), pair.slice(at + 1).trim()];
    if (name === "") return null;
    const attributes = new Map(
      rest.map((one) => {
        const [key = "", given = ""] = one.split(/=(.*)/s);
        return [key.trim().toLowerCase(), given.trim()] as const;
      }),
    );
    const given = (attributes.get("domain") ?? "").replace(/^\./, "").toLowerCase();
    if (given !== "" && !domainMatches(url.hostname, given)) return null;
    // Refuses a cookie for a whole top-level domain.
    if (given !== "" && given !== url.hostname && !given.includes(".")) return null;
    const path = attributes.get("path")?.startsWith("/") === true ? (attributes.get("path") ?? "/") : defaultPath(url);
    const secure = attributes.has("secure");
    if (secure && !isSecure(url)) return null;
    if (/^__(secure|host)-/i.test(name) && !secure) return null;
    if (/^__host-/i.test(name) && (given !== "" || path !== "/")) return null;
    return {
      ...{ name, value, path, secure },
      domain: given === "" ? url.hostname : given,
      hostOnly: given === "",
      expires: this.#expiry(attributes),
    };
  }

  #expiry(attributes: ReadonlyMap<string, string>): number {
    const age = attributes.get("max-age");
    if (age !== undefined && /^-?\d+$/.test(age)) return this.#now() + Number(age) * 1000;
    const time = Date.parse(attributes.get("expires") ?? "");
    return Number.isNaN(time) ? Infinity : time;
  }
}
