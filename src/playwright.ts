/**
 * `dev-idp/playwright`: signs a user in on the pages of `idp`, for tests with Playwright. Works with `@playwright/test`, `playwright` and
 * `playwright-core` alike: nothing of them is imported, a page is known by what is used of it here.
 */

export { idpFixtures } from "./playwright-requests.ts";
export type { FailedTestInfo, ServerOfTests } from "./playwright-requests.ts";

/** What of Playwright's `Locator` is used. */
interface PageLocator {
  count(): Promise<number>;
  click(options: Pressing): Promise<void>;
  fill(value: string, options: { timeout: number }): Promise<void>;
  press(key: string, options: Pressing): Promise<void>;
  textContent(): Promise<string | null>;
  getAttribute(name: string): Promise<string | null>;
  evaluate(work: (element: Markable) => void): Promise<void>;
  waitFor(options: { state: "attached"; timeout: number }): Promise<void>;
}

/** `noWaitAfter`: this file waits for the next page itself, with a clearer error if it does not come. */
interface Pressing {
  timeout: number;
  noWaitAfter: boolean;
}

/** An element in the browser. */
interface Markable {
  setAttribute(name: string, value: string): void;
}

/** What of Playwright's `Page` is used. */
export interface SignInPage {
  url(): string;
  isClosed(): boolean;
  locator(selector: string): PageLocator;
}

export interface SignInOptions {
  /** The username. */
  readonly user: string;
  /** Absent: the user is picked from the list on the login page, as that is on unless `--login password`. */
  readonly password?: string;
  /** What is pressed on the consent page: Allow (true, the default) or Deny (false). */
  readonly approve?: boolean;
  /** For how many milliseconds each page is waited for. Default 10,000. */
  readonly timeout?: number;
}

/** Where the browser is: a page of `idp`, or null where it left (or closed, as a popup does when it is done). */
interface Where {
  readonly page: string;
  readonly state: string;
}

const defaultTimeout = 10_000;

/** A page of `idp` names itself in `data-page` and `data-state`. */
const ownPage = "html[data-page][data-state]";
/** Set on a page before a button is pressed: the page that comes next lacks it, also where its address is the same. */
const left = "data-idp-left";

/** By its hook, which is `id` and `data-testid`; names of users hold `.`, `@` and `+`. */
const hook = (name: string): string => `[data-testid=${JSON.stringify(name)}]`;

const textOf = async (page: SignInPage, name: string): Promise<string> => {
  const found = page.locator(hook(name));
  if ((await found.count()) === 0) return "";
  return ((await found.textContent()) ?? "").replaceAll(/\s+/g, " ").trim();
};

const named = ({ page, state }: Where): string => `data-page="${page}" data-state="${state}"`;

/** What an error page or a refusal says of itself. */
async function explanation(page: SignInPage, where: Where): Promise<string> {
  const hooks = where.page === "error" ? ["error-code", "error-message", "error-fix"] : [`${where.page}-error`];
  const texts = [];
  for (const name of hooks) texts.push(await textOf(page, name));
  return texts.filter((text) => text !== "").join(": ");
}

async function refusal(page: SignInPage, where: Where, what: string): Promise<Error> {
  const said = await explanation(page, where);
  return new Error(`${what} (${named(where)} at ${page.url()})${said === "" ? "" : `: ${said}`}`);
}

/** Which page this is. @param origin of `idp`, null while it is not known: pages of other origins are not its own */
async function whereIs(page: SignInPage, origin: string | null): Promise<Where | null> {
  if (page.isClosed()) return null;
  if (origin !== null && originOf(page.url()) !== origin) return null;
  if ((await page.locator(ownPage).count()) === 0) return null;
  const html = page.locator("html");
  const [name, state] = [await html.getAttribute("data-page"), await html.getAttribute("data-state")];
  return name === null || state === null ? null : { page: name, state };
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "");

/** Presses a button (or Enter in a field) and waits for the page that comes of it. */
async function next(
  page: SignInPage,
  origin: string,
  timeout: number,
  what: string,
  press: (options: Pressing) => Promise<void>,
): Promise<Where | null> {
  await page.locator("html").evaluate((element) => {
    // It runs in the browser, where nothing of this file is known.
    element.setAttribute("data-idp-left", "");
  });
  try {
    await press({ timeout, noWaitAfter: true });
    // A page that posts itself to the client (response_mode=form_post) is on its way already.
    await page.locator(`html:not([${left}]):not([data-page="form-post"])`).waitFor({ state: "attached", timeout });
  } catch (error) {
    if (page.isClosed()) return null;
    throw new Error(`no page came within ${timeout} ms after ${what} at ${page.url()}`, { cause: error });
  }
  return whereIs(page, origin);
}

/** What is done on the login page: how the user is named there. */
async function logIn(
  page: SignInPage,
  where: Where,
  { user, password, timeout = defaultTimeout }: SignInOptions,
): Promise<(options: Pressing) => Promise<void>> {
  if (password !== undefined) {
    const folded = page.locator(`details:not([open]):has(${hook("login-form")}) > summary`);
    if ((await folded.count()) > 0) await folded.click({ timeout, noWaitAfter: true });
    const username = page.locator(hook("login-username"));
    // Who has to sign in again is named there already, and nobody else may.
    if ((await username.getAttribute("readonly")) === null) await username.fill(user, { timeout });
    await page.locator(hook("login-password")).fill(password, { timeout });
    return (pressing) => page.locator(hook("login-submit")).click(pressing);
  }
  const person = page.locator(hook(`login-as-${user}`));
  if ((await person.count()) > 0) return (pressing) => person.click(pressing);
  if ((await page.locator(hook("login-picker")).count()) === 0) {
    throw await refusal(page, where, `the login page has no picker: also give the password of "${user}"`);
  }
  if (where.state === "reauth") {
    throw await refusal(page, where, `the login page asks a user other than "${user}" to sign in again`);
  }
  throw await refusal(page, where, `the login page has no user "${user}" to pick`);
}

/** With many users not all of them are on the first page of the picker. */
async function findInPicker(page: SignInPage, origin: string, { user }: SignInOptions, timeout: number): Promise<void> {
  if ((await page.locator(hook(`login-as-${user}`)).count()) > 0) return;
  const search = page.locator(hook("login-search"));
  if ((await search.count()) === 0) return;
  await search.fill(user, { timeout });
  await next(page, origin, timeout, `searching for "${user}"`, (pressing) => search.press("Enter", pressing));
}

/**
 * Signs a user in on the pages of `idp`, and decides on the consent page where one comes.
 *
 * The browser has to be on its way to the login page: press your app's "Sign in" first. When this resolves, the browser is back at your
 * app; whether that is signed in then is for your test to look at. A browser that has a session already is asked to switch the user on the
 * consent page; with a session and a consent there is no page at all, so give each test a context of its own, as `@playwright/test` does.
 *
 * @param page a `Page` of Playwright
 * @param options who signs in, how, and what they decide
 * @throws {Error} with `data-page`, `data-state` and the words of the page where it is an error, the password is wrong, the user is suspended
 *   or banned, or where no consent page came that could be denied; where no page came within `timeout` milliseconds
 */
export async function signIn(page: SignInPage, options: SignInOptions): Promise<void> {
  const { user, approve = true, timeout = defaultTimeout } = options;
  try {
    await page.locator(ownPage).waitFor({ state: "attached", timeout });
  } catch (error) {
    throw new Error(
      `no page of idp came within ${timeout} ms: the browser is at ${page.url()}. ` +
        `Press your app's "Sign in" before signIn; if "${user}" already has a session and gave consent, idp shows no page`,
      { cause: error },
    );
  }
  const origin = originOf(page.url());
  let signedIn = false;
  let where = await whereIs(page, origin);
  while (where !== null) {
    const here: Where = where;
    if (here.page === "login" && here.state !== "expired" && here.state !== "no-cookie" && !signedIn) {
      if (options.password === undefined) await findInPicker(page, origin, options, timeout);
      const submit = await logIn(page, here, options);
      where = await next(page, origin, timeout, `signing in as "${user}"`, submit);
      signedIn = true;
    } else if (here.page === "consent" && !["expired", "finished", "suspended"].includes(here.state)) {
      if (!signedIn) {
        // Somebody has a session: perhaps not the one who is meant.
        const change = page.locator(hook("consent-switch-user"));
        where = await next(page, origin, timeout, "switching the user", (pressing) => change.click(pressing));
        continue;
      }
      const decide = page.locator(hook(approve ? "consent-allow" : "consent-deny"));
      where = await next(page, origin, timeout, approve ? "allowing" : "denying", (pressing) => decide.click(pressing));
      if (where === null) return;
      throw await refusal(page, where, "the decision was not accepted");
    } else {
      const what =
        here.page === "login" && signedIn ? `"${user}" could not sign in` : "this page is not a sign-in page";
      throw await refusal(page, here, what);
    }
  }
  if (!approve) {
    throw new Error(
      `there was no consent page that "${user}" could deny: consent was given before, or is not asked for. The browser is at ` +
        (page.isClosed() ? "a page that closed" : page.url()),
    );
  }
}
