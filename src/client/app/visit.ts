import type { LookupFunction } from "node:net";
import type { Outgoing, Reply } from "../http.ts";

/** What a case asks of a browser. */

/** A response of the authorization endpoint, as it is delivered to the app. */
export interface AuthorizationResponse {
  readonly redirectUri: string;
  readonly mode: "query" | "form_post" | "fragment";
  readonly parameters: URLSearchParams;
}

/** One request of the browser, to the app or to idp. */
export interface Step {
  readonly url: URL;
  readonly isApp: boolean;
  readonly status: number;
}

/** Where the browser came to rest. */
export type End =
  | { readonly kind: "page"; readonly url: string; readonly status: number; readonly text: string }
  /** At idp, where this visit signs nobody in, or has already signed in. */
  | { readonly kind: "idp" }
  /** An address that belongs neither to the app nor to idp; it is not opened. */
  | { readonly kind: "foreign"; readonly url: string }
  /** The response was held back, and the app has not seen it. */
  | { readonly kind: "held" }
  /** No response came, or the browser cannot go on. */
  | { readonly kind: "stuck"; readonly why: string; readonly error?: unknown };

export interface Visit {
  readonly steps: readonly Step[];
  /** The address of the authorization request; null: there was none. */
  readonly request: URL | null;
  readonly response: AuthorizationResponse | null;
  /** What the app answered to the response; null: it was not delivered. */
  readonly callback: Step | null;
  /** Whether a cookie of the app was set or changed since then. */
  readonly changed: boolean;
  /** The cookies without SameSite that were sent from another site: browsers do so for two minutes. */
  readonly unmarked?: readonly string[];
  readonly end: End;
}

/** A cookie as Playwright writes it. */
export interface HeldCookie {
  readonly name: string;
  readonly value: string;
  /** With a dot in front where subdomains get it too. */
  readonly domain: string;
  readonly path: string;
  /** Seconds since 1970; -1: until the browser closes. */
  readonly expires: number;
  readonly httpOnly: boolean;
  readonly secure: boolean;
  readonly sameSite: "Strict" | "Lax" | "None";
}

export interface NamedValue {
  readonly name: string;
  readonly value: string;
}

/** What a browser holds of every app; nothing of idp. */
export interface Held {
  readonly cookies: readonly HeldCookie[];
  readonly origins: readonly { readonly origin: string; readonly localStorage: readonly NamedValue[] }[];
  /** By origin. */
  readonly sessionStorage: Readonly<Record<string, readonly NamedValue[]>>;
}

export interface Browser {
  /** Opens an address of the app, and signs in at idp if that leads there. @param hold keeps the response from the app */
  signIn(address: string, hold?: "hold"): Promise<Visit>;
  /**
   * Brings a response to the app.
   * @param from `another-site`: without the cookies that a browser keeps back there (RFC 6265bis 5.6.7)
   */
  deliver(response: AuthorizationResponse, from?: "another-site"): Promise<Visit>;
  /** Opens an address of the app, and signs nobody in. */
  look(address: string): Promise<Visit>;
  held(): Promise<Held>;
  /**
   * Sends one request with its cookies, and keeps those of the answer. Redirects are not followed.
   * @param from the page that leads there; null if none does
   * @throws {Problem} if no answer comes
   */
  request(outgoing: Outgoing, from: string | null): Promise<Reply>;
  /** Takes cookies that another browser held. */
  take(cookies: readonly HeldCookie[]): Promise<void>;
  close(): Promise<void>;
}

/** The places of an app and its idp. */
export interface Places {
  readonly issuer: string;
  /** Null: whatever idp sends the browser to. */
  readonly redirectUris: readonly string[] | null;
  /** Origins of the app; null: all but idp. */
  readonly origins: readonly string[] | null;
  /** Username. */
  readonly user: string;
  /** The user cancels at the login page of idp in place of signing in. */
  readonly cancels?: boolean;
  /** What the button or link of the app's sign-in page says; absent: it has only one button. */
  readonly startButton?: string | undefined;
  /** A text that scripts may show late, and the address at which it is looked for. */
  readonly awaits?: { readonly at: string; readonly text: string } | undefined;
  /** The user's one-time code, once there is one; absent: none can be given. */
  readonly code?: () => Promise<string>;
  /**
   * Begins the user's session where nobody can be picked. Absent: it cannot.
   * @param uid of the sign-in @param csrf of its login page
   * @returns the value of the session cookie
   */
  readonly begin?: (uid: string, csrf: string) => Promise<string>;
  /** Resolves the names of the app, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

/** Paths of vendors at the end of an issuer. Pages are below the address before it. */
const vendorPath = /\/(?:realms\/[^/]+|oauth2\/[^/]+|[^/]+\/v2\.0|login\/oauth)$/;

export const isIdp = ({ issuer }: Pick<Places, "issuer">, url: URL): boolean => {
  const { origin, pathname } = new URL(issuer);
  const base = pathname.replace(/\/$/, "").replace(vendorPath, "");
  return url.origin === origin && (url.pathname === base || url.pathname.startsWith(`${base}/`));
};

export const isApp = (places: Places, url: URL): boolean =>
  places.origins === null ? /^https?:$/.test(url.protocol) && !isIdp(places, url) : places.origins.includes(url.origin);

/** The id of a sign-in, in the address of a page of idp. */
export const uidOf = (address: string): string | null => /\/interaction\/([\w-]+)\//.exec(address)?.[1] ?? null;

/** Where a sign-in goes on once somebody has a session. @param address of its login page */
export const afterLogin = (address: string): string => new URL("consent", address).href;

/** The name of the session cookie, beside the cookie with which idp knows the browser. */
export const sessionCookieOf = (name: string): string | null => {
  const beside = name.replace(/^(idp_\d+(?:_[\w-]+)?)_browser$/, "$1_session");
  return beside === name ? null : beside;
};

/** Whether idp gives its own cookies such a name: another idp on this host does, too. */
export const isOwnCookie = (name: string): boolean =>
  /^idp_\d+(?:_[\w-]+)?_(?:browser|session|try|inspector|language|theme)$/.test(name);

/** The response that a redirect carries to the app; null: the redirect leads elsewhere. */
export function responseAt({ redirectUris }: Places, url: URL): AuthorizationResponse | null {
  const bare = url.origin + url.pathname;
  const isRegistered =
    redirectUris === null ||
    redirectUris.some((uri) => {
      const [start = "", ...rest] = (uri.split("?")[0] ?? "").split(":*");
      return rest.length === 0
        ? sameAddress(start, bare)
        : bare.startsWith(`${start}:`) && bare.endsWith(rest[0] ?? "");
    });
  if (!isRegistered) return null;
  const inFragment = /[#&](code|error|state)=/.test(url.hash);
  const parameters = inFragment ? new URLSearchParams(url.hash.slice(1)) : url.searchParams;
  if (redirectUris !== null && !["code", "error", "state", "iss"].some((name) => parameters.has(name))) return null;
  const redirectUri = inFragment ? bare + url.search : bare;
  return { redirectUri, mode: inFragment ? "fragment" : "query", parameters: new URLSearchParams(parameters) };
}

const sameAddress = (uri: string, bare: string): boolean =>
  URL.canParse(uri) && new URL(uri).href === new URL(bare).href;

/** The address that carries a response: in its query or its fragment. */
export function addressOf({ redirectUri, mode, parameters }: AuthorizationResponse): string {
  const url = new URL(redirectUri);
  if (mode === "fragment") url.hash = parameters.toString();
  else url.search = parameters.toString();
  return url.href;
}

/** The same response with other parameters; null leaves one out. */
export function changed(
  response: AuthorizationResponse,
  change: Readonly<Record<string, string | null>>,
): AuthorizationResponse {
  const parameters = new URLSearchParams(response.parameters);
  for (const [name, value] of Object.entries(change)) {
    if (value === null) parameters.delete(name);
    else parameters.set(name, value);
  }
  return { ...response, parameters };
}

/** A place of somebody else. The name never resolves (RFC 6761 6.4). */
export const elsewhere = "https://elsewhere.invalid";
