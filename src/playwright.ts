/**
 * `dev-idp/playwright`, for tests with Playwright: signs a user in on the pages of `idp`, and gives each worker an issuer. It works with
 * `@playwright/test`, `playwright` and `playwright-core`. It imports none of them, and the types here name only the members that are used.
 */

export { idpFixtures } from "./playwright-fixtures.ts";
export type {
  FailedTestInfo,
  IdpTestFixtures,
  IdpWorkerFixtures,
  OneWorkerInfo,
  RemoteIssuer,
  ServerOfTests,
} from "./playwright-fixtures.ts";

/** The part of Playwright's `Locator` that is used. */
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

/** The part of Playwright's `Page` that is used. */
export interface SignInPage {
  url(): string;
  isClosed(): boolean;
  locator(selector: string): PageLocator;
}

export interface SignInOptions {
  /** The username. */
  readonly user: string;
  /** Without it, the user is picked from the list on the login page, which exists unless `--login password` is set. */
  readonly password?: string;
  /** Which button to press on the consent page: Allow (true, the default) or Deny (false). */
  readonly approve?: boolean;
  /** How many milliseconds to wait for each page. Default: 10,000. */
  readonly timeout?: number;
}

/** The page of `idp` that the browser shows. */
interface Where {
  readonly page: string;
  readonly state: string;
}

const defaultTimeout = 10_000;

/** A page of `idp` names itself in `data-page` and `data-state`. */
const ownPage = "html[data-page][data-state]";
/** Marks a page before a button is pressed. The next page lacks the mark, even if its address is the same. */
const left = "data-idp-left";

/** The selector of an element by its `data-testid`. It is quoted, because user names may have `.`, `@` and `+`. */
const hook = (name: string): string => `[data-testid=${JSON.stringify(name)}]`;

const textOf = async (page: SignInPage, name: string): Promise<string> => {
  const found = page.locator(hook(name));
  if ((await found.count()) === 0) return "";
  return ((await found.textContent()) ?? "").replaceAll(/\s+/g, " ").trim();
};

const named = ({ page, state }: Where): string => `data-page="${page}" data-state="${state}"`;

/** The text of an error page or a refusal. */
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

/**
 * The page of `idp` that the browser shows; null if it has left `idp`, or is closed, like a popup that is done.
 * @param origin of `idp`; null if it is not known yet. Pages of other origins are not pages of `idp`
 */
async function whereIs(page: SignInPage, origin: string | null): Promise<Where | null> {
  if (page.isClosed()) return null;
  if (origin !== null && originOf(page.url()) !== origin) return null;
  if ((await page.locator(ownPage).count()) === 0) return null;
  const html = page.locator("html");
  const [name, state] = [await html.getAttribute("data-page"), await html.getAttribute("data-state")];
  return name === null || state === null ? null : { page: name, state };
}

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "");

/** Presses a button (or Enter in a field) and waits for the next page. */
async function next(
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
    await page.locator(`html:not([${left}]):not([data-page="form-post"])`).waitFor({ state: "attached", timeout });
  } catch (error) {
    if (page.isClosed()) return null;
    throw new Error(`no page came within ${timeout} ms after ${what} at ${page.url()}`, { cause: error });
  }
  return whereIs(page, origin);
}

/** Fills in the login page. @returns presses its button */
async function logIn(
  page: SignInPage,
  where: Where,
  { user, password, timeout = defaultTimeout }: SignInOptions,
): Promise<(options: Pressing) => Promise<void>> {
  if (password !== undefined) {
    const folded = page.locator(`details:not([open]):has(${hook("login-form")}) > summary`);
    if ((await folded.count()) > 0) await folded.click({ timeout, noWaitAfter: true });
    const username = page.locator(hook("login-username"));
    // For a user who has to sign in again, the name is filled in and fixed.
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

/** With many users, not all are on the first page of the picker. */
async function findInPicker(page: SignInPage, origin: string, { user }: SignInOptions, timeout: number): Promise<void> {
  if ((await page.locator(hook(`login-as-${user}`)).count()) > 0) return;
  const search = page.locator(hook("login-search"));
  if ((await search.count()) === 0) return;
  await search.fill(user, { timeout });
  await next(page, origin, timeout, `searching for "${user}"`, (pressing) => search.press("Enter", pressing));
}

/**
 * Signs a user in on the pages of `idp`, and decides on the consent page if there is one.
 *
 * The browser has to be on its way to the login page: press your app's "Sign in" first. When this resolves, the browser is back at your
 * app, and your test checks whether the user is signed in there. In a browser with a session, the user is switched on the consent page.
 * With a session and a consent there is no page at all, so give each test its own context, as `@playwright/test` does.
 *
 * @param page a `Page` of Playwright
 * @param options who signs in, how, and what they decide
 * @throws {Error} with `data-page`, `data-state` and the words of the page if it is an error, the password is wrong, the user is suspended or
 *   banned, or there is no consent page to deny; also if no page comes within `timeout` milliseconds
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
        // Somebody has a session, perhaps another user.
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
