/**
 * A browser for tests: keeps cookies by host name (real ones ignore ports too), follows redirects by hand, and knows enough HTML
 * to fill in our forms. It stops where a redirect leaves the servers that it knows, and hands that address out.
 */

export interface Form {
  readonly action: string;
  readonly method: string;
  /** Name and value of each field that a browser would send, in order; submit buttons left out. */
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** Attributes of its buttons. */
  readonly buttons: readonly { readonly id: string | null; readonly name: string | null; readonly value: string }[];
}

export interface Visit {
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** `data-page` and `data-state`; empty without a page. */
  readonly page: string;
  readonly state: string;
  /** Where a redirect left the servers; null: it did not. */
  readonly left: URL | null;
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#34": '"', "#39": "'" };
const unescape = (text: string): string =>
  text.replaceAll(/&(amp|lt|gt|quot|#34|#39);/g, (whole, name: string) => entities[name] ?? whole);

const attribute = (tag: string, name: string): string | null => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1];
  return value === undefined ? null : unescape(value);
};

export function formsOf(html: string): Form[] {
  return [...html.matchAll(/<form\b[^>]*>([\s\S]*?)<\/form>/g)].map(([whole, inner = ""]) => {
    const open = /<form\b[^>]*>/.exec(whole)?.[0] ?? "";
    const inputs = [...inner.matchAll(/<input\b[^>]*>/g)].map(([tag]) => tag);
    const sent = inputs.filter((tag) => {
      const type = attribute(tag, "type") ?? "text";
      return (
        !/\sdisabled\b/.test(tag) && (type !== "checkbox" || /\schecked\b/.test(tag)) && attribute(tag, "name") !== null
      );
    });
    return {
      action: attribute(open, "action") ?? "",
      method: (attribute(open, "method") ?? "get").toUpperCase(),
      fields: sent.map(
        (tag) =>
          [
            attribute(tag, "name") ?? "",
            attribute(tag, "value") ?? (tag.includes('type="checkbox"') ? "on" : ""),
          ] as const,
      ),
      buttons: [...inner.matchAll(/<button\b[^>]*>/g)].map(([tag]) => ({
        id: attribute(tag, "id"),
        name: attribute(tag, "name"),
        value: attribute(tag, "value") ?? "",
      })),
    };
  });
}

export class Browser {
  readonly #origin: string;
  readonly #origins: ReadonlySet<string>;
  readonly #cookies = new Map<string, Map<string, string>>();

  /**
   * @param origin of the server under test; what is opened without one is opened there
   * @param others whose pages it goes on to as well: a client application, a second server
   */
  constructor(origin: string, ...others: readonly string[]) {
    this.#origin = new URL(origin).origin;
    this.#origins = new Set([origin, ...others].map((one) => new URL(one).origin));
  }

  /** Those that the server under test is sent. */
  get cookies(): ReadonlyMap<string, string> {
    return this.#jar(new URL(this.#origin));
  }

  /** Keeps a cookie that no server sent, as if it was written into the browser's store. */
  setCookie(name: string, value: string): void {
    this.#jar(new URL(this.#origin)).set(name, value);
  }

  #jar({ hostname }: URL): Map<string, string> {
    const jar = this.#cookies.get(hostname) ?? new Map<string, string>();
    this.#cookies.set(hostname, jar);
    return jar;
  }

  async request(url: string, init: RequestInit = {}): Promise<Response> {
    const target = new URL(url, this.#origin);
    const jar = this.#jar(target);
    const headers = new Headers(init.headers);
    if (!headers.has("accept")) headers.set("accept", "text/html,application/xhtml+xml,*/*;q=0.8");
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    if (cookie !== "") headers.set("cookie", cookie);
    const response = await fetch(target, { ...init, headers, redirect: "manual" });
    for (const line of response.headers.getSetCookie()) {
      const [pair = "", ...attributes] = line.split(";");
      const at = pair.indexOf("=");
      const gone = attributes.some((one) => /^\s*(max-age=0|expires=.*\b1970\b.*)\s*$/i.test(one));
      if (gone) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }

  /** Opens an address and follows redirects for as long as they stay on the servers that it knows. */
  async open(url: string, init: RequestInit = {}): Promise<Visit> {
    let target = new URL(url, this.#origin);
    let response = await this.request(target.href, init);
    for (let hops = 0; hops < 20; hops += 1) {
      const location = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || location === null) break;
      const next = new URL(location, target);
      if (!this.#origins.has(next.origin)) {
        return {
          url: target.href,
          status: response.status,
          headers: response.headers,
          body: "",
          page: "",
          state: "",
          left: next,
        };
      }
      target = next;
      response = await this.request(target.href);
    }
    const body = await response.text();
    const html = /<html\b[^>]*>/.exec(body)?.[0] ?? "";
    return {
      url: target.href,
      status: response.status,
      headers: response.headers,
      body,
      page: attribute(html, "data-page") ?? "",
      state: attribute(html, "data-state") ?? "",
      left: null,
    };
  }

  /**
   * Presses a button of a page, and with it sends its form.
   * @param button its id
   * @param change what is typed and ticked: a field's values, all of them; null unticks
   */
  async press(
    visit: Visit,
    button: string,
    change: Readonly<Record<string, string | readonly string[] | null>> = {},
    headers: Record<string, string> = {},
  ): Promise<Visit> {
    const form = formsOf(visit.body).find((one) => one.buttons.some(({ id }) => id === button));
    if (form === undefined)
      throw new Error(`no button ${button} on page ${visit.page} (${visit.state}) at ${visit.url}`);
    const pressed = form.buttons.find(({ id }) => id === button);
    const body = new URLSearchParams();
    for (const [name, value] of form.fields) if (!(name in change)) body.append(name, value);
    for (const [name, values] of Object.entries(change))
      for (const value of [values ?? []].flat()) body.append(name, value);
    if (pressed?.name != null) body.append(pressed.name, pressed.value);
    const { origin } = new URL(visit.url);
    return this.open(new URL(form.action, visit.url).href, {
      method: form.method,
      body,
      headers: { origin, ...headers },
    });
  }
}

/**
 * What a person does from there on: picks a user where a login page asks, and allows what is asked for.
 * @returns where that led: another page, or a redirect that left
 */
export async function approve(browser: Browser, visit: Visit, user = "alice"): Promise<Visit> {
  const signedIn = visit.page === "login" ? await browser.press(visit, `login-as-${user}`) : visit;
  return signedIn.page === "consent" ? browser.press(signedIn, "consent-allow") : signedIn;
}
