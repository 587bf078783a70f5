import { fixOfTest } from "./core/testing/ledger/advice.ts";

/** The pages of `idp` in a browser that Playwright drives. */

/** The part of Playwright's `Locator` that is used. */
interface PageLocator {
  count(): Promise<number>;
  click(options: Pressing): Promise<void>;
  fill(value: string, options: { timeout: number }): Promise<void>;
  press(key: string, options: Pressing): Promise<void>;
  getAttribute(name: string): Promise<string | null>;
  evaluate<T>(work: (element: Markable) => T): Promise<T>;
  waitFor(options: { state: "attached"; timeout: number }): Promise<void>;
}

/** `noWaitAfter`: this file waits for the next page itself, with a clearer error if it does not come. */
export interface Pressing {
  timeout: number;
  noWaitAfter: boolean;
}

/** An element in the browser. */
interface Markable {
  setAttribute(name: string, value: string): void;
  querySelectorAll(selector: string): ArrayLike<{ readonly id: string; remove(): void }>;
  /** The copy is an element too, but the types of the DOM say only that it is a node. */
  cloneNode(deep: true): object;
  readonly textContent: string | null;
}

/** The part of Playwright's `Page` that is used. */
export interface SignInPage {
  url(): string;
  isClosed(): boolean;
  reload(): Promise<unknown>;
  locator(selector: string): PageLocator;
}

/** The page of `idp` that the browser shows. */
export interface Where {
  readonly page: string;
  readonly state: string;
}

/** A page of `idp` names itself in `data-page` and `data-state`. */
export const ownPage = "html[data-page][data-state]";
/** Marks a page before a button is pressed. The next page lacks the mark, even if its address is the same. */
const left = "data-idp-left";

/** The selector of an element by its `data-testid`. It is quoted, because user names may have `.`, `@` and `+`. */
export const hook = (name: string): string => `[data-testid=${JSON.stringify(name)}]`;

export const textOf = async (page: SignInPage, name: string): Promise<string> => {
  const found = page.locator(hook(name));
  if ((await found.count()) === 0) return "";
  const text = await found.evaluate((element) => {
    // A button is not part of what the page says ("Copy"). This function runs in the browser.
    const copy = element.cloneNode(true) as Markable;
    for (const button of Array.from(copy.querySelectorAll("button"))) button.remove();
    return copy.textContent;
  });
  return (text ?? "").replaceAll(/\s+/g, " ").trim();
};

const named = ({ page, state }: Where): string => `data-page="${page}" data-state="${state}"`;

/** The text of an error page or a refusal. The server may be gone when it is read, so that no command reaches it. */
async function explanation(page: SignInPage, where: Where): Promise<string> {
  const hooks = where.page === "error" ? ["error-code", "error-message", "error-fix"] : [`${where.page}-error`];
  const texts = [];
  for (const name of hooks) texts.push(await textOf(page, name));
  const said = texts.filter((text) => text !== "").join(": ");
  const fix = page.locator("[data-command]");
  if ((await fix.count()) !== 1) return said;
  const [command, shown] = [
    await fix.getAttribute("data-command"),
    await fix.evaluate(({ textContent }) => textContent),
  ];
  // Its words are plain, so that each shell reads them.
  const advice = fixOfTest({ text: "", command: (command ?? "").split(" ") }, shown);
  return shown === null || advice === null ? said : said.replace(shown, () => advice);
}

export async function refusal(page: SignInPage, where: Where, what: string): Promise<Error> {
  const said = await explanation(page, where);
  return new Error(`${what} (${named(where)} at ${page.url()})${said === "" ? "" : `: ${said}`}`);
}

/**
 * The page of `idp` that the browser shows; null if it has left `idp`, or is closed, like a popup that is done.
 * @param origin of `idp`; null if it is not known yet. Pages of other origins are not pages of `idp`
 */
export async function whereIs(page: SignInPage, origin: string | null): Promise<Where | null> {
  if (page.isClosed()) return null;
  if (origin !== null && originOf(page.url()) !== origin) return null;
  if ((await page.locator(ownPage).count()) === 0) return null;
  const html = page.locator("html");
  const [name, state] = [await html.getAttribute("data-page"), await html.getAttribute("data-state")];
  return name === null || state === null ? null : { page: name, state };
}

export const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "");

/** Presses a button (or Enter in a field) and waits for the next page. */
export async function next(
  page: SignInPage,
  origin: string,
  timeout: number,
  what: string,
  press: (options: Pressing) => Promise<void>,
): Promise<Where | null> {
  await page.locator("html").evaluate((element) => {
    // This function runs in the browser, so it cannot use anything of this file.
    element.setAttribute("data-idp-left", "");
  });
  try {
    await press({ timeout, noWaitAfter: true });
    // The page of response_mode=form_post goes on by itself.
    await page
      .locator(`html:not([${left}]):not([data-page="form-post"]):not([data-page="saml-post"])`)
      .waitFor({ state: "attached", timeout });
  } catch (error) {
    if (page.isClosed()) return null;
    throw new Error(`no page came within ${timeout} ms after ${what} at ${page.url()}`, { cause: error });
  }
  return whereIs(page, origin);
}
