import type { Held, HeldCookie } from "./visit.ts";
import type { SignInPage } from "../../playwright.ts";

/** The members of Playwright that are used here. Nothing is imported from it, because each app has its own Playwright. */

/** A request of the Fetch domain of Chromium, before it is sent. */
export interface Paused {
  readonly requestId: string;
  readonly frameId: string;
  readonly request: {
    readonly url: string;
    readonly urlFragment?: string;
    readonly method: string;
    readonly postData?: string;
  };
}

export interface Session {
  send(method: "Page.getFrameTree"): Promise<{ readonly frameTree: { readonly frame: { readonly id: string } } }>;
  send(method: string, parameters: object): Promise<unknown>;
  on(event: "Fetch.requestPaused", listener: (paused: Paused) => void): unknown;
}

interface Response {
  url(): string;
  status(): number;
  frame(): unknown;
  request(): { isNavigationRequest(): boolean };
}

type Locator = ReturnType<SignInPage["locator"]> & {
  first(): Locator;
  innerText(options: { timeout: number }): Promise<string>;
  click(options: { timeout: number }): Promise<void>;
  waitFor(options: { state: "attached" | "detached"; timeout: number }): Promise<void>;
};

export interface Page extends SignInPage {
  locator(selector: string): Locator;
  goto(address: string, options?: { waitUntil: "domcontentloaded"; timeout: number }): Promise<unknown>;
  setContent(html: string): Promise<void>;
  waitForLoadState(state: "networkidle", options: { timeout: number }): Promise<void>;
  mainFrame(): unknown;
  evaluate(expression: string): Promise<unknown>;
  on(event: "response", listener: (response: Response) => void): unknown;
}

export type Cookies = readonly HeldCookie[];

export interface BrowserContext {
  cookies(url?: string): Promise<Cookies>;
  addCookies(cookies: Cookies): Promise<void>;
  storageState(): Promise<Pick<Held, "cookies" | "origins">>;
  newPage(): Promise<Page>;
  newCDPSession(page: never): Promise<Session>;
  close(): Promise<void>;
}

/** A browser that was launched. */
export interface Launched {
  newContext(options: { readonly ignoreHTTPSErrors: boolean }): Promise<BrowserContext>;
  close(): Promise<void>;
}
