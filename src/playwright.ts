/**
 * `dev-idp/playwright`, for tests with Playwright: signs a user in on the pages of `idp`, and gives each worker an issuer. It works with
 * `@playwright/test`, `playwright` and `playwright-core`. It imports none of them, and the types here name only the members that are used.
 */

import {
  hook,
  next,
  originOf,
  ownPage,
  refusal,
  textOf,
  whereIs,
  type Pressing,
  type SignInPage,
  type Where,
} from "./playwright-page.ts";

export type { SignInPage } from "./playwright-page.ts";
export { idpFixtures } from "./playwright-fixtures.ts";
export type {
  FailedTestInfo,
  IdpTestFixtures,
  IdpWorkerFixtures,
  OneWorkerInfo,
  RemoteIssuer,
  ServerOfTests,
} from "./playwright-fixtures.ts";

export interface SignInOptions {
  /** The username. */
  readonly user: string;
  /** Without it, the user is picked from the list on the login page, which exists unless `--login password` is set. */
  readonly password?: string;
  /**
   * The one-time code, where the app asks for one. `auto`: the one that the page shows, which it does wherever users can be picked; if all
   * current ones are used, this waits for the next one.
   */
  readonly otp?: string;
  /** Which button to press on the consent page: Allow (true, the default) or Deny (false). */
  readonly approve?: boolean;
  /** How many milliseconds to wait for each page. Default: 10,000. */
  readonly timeout?: number;
}

const defaultTimeout = 10_000;

/** Fills in the login page. @param listed the users that it lists, in words @returns presses its button */
async function logIn(
  page: SignInPage,
  where: Where,
  { user, password, timeout = defaultTimeout }: SignInOptions,
  listed: string,
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
  throw await refusal(page, where, `the login page has no user "${user}" to pick${listed}`);
}

/** The users that the page lists, in words. */
async function pickable(page: SignInPage): Promise<string> {
  const picker = page.locator(hook("login-picker"));
  if ((await picker.count()) === 0) return "";
  const ids = await picker.evaluate((list) => Array.from(list.querySelectorAll("[id^=login-as-]"), ({ id }) => id));
  return ids.length === 0 ? "" : `; it has ${ids.map((id) => id.slice("login-as-".length)).join(", ")}`;
}

/** Gives the second step: the code, or the button that stands in for a passkey. */
async function giveFactor(
  page: SignInPage,
  origin: string,
  where: Where,
  { user, otp }: SignInOptions,
  timeout: number,
): Promise<Where | null> {
  if (where.state === "passkey") {
    const button = page.locator(`button[name=passkey][value=button]`);
    if ((await button.count()) === 0) throw await refusal(page, where, `the app asks for a passkey of "${user}"`);
    return next(page, origin, timeout, "the second step", (pressing) => button.click(pressing));
  }
  if (otp === undefined)
    throw await refusal(page, where, `the app asks for a one-time code: give otp: "auto" to signIn`);
  const field = page.locator(hook("factor-otp"));
  await field.fill(otp === "auto" ? await shownCode(page, where) : otp, { timeout });
  return next(page, origin, timeout, "the one-time code", (pressing) => field.press("Enter", pressing));
}

/** Milliseconds: a one-time code lives for 30 s, so a new one comes within that time. */
const maxCodeWait = 35_000;

/** The code that the page shows, once one is left. */
async function shownCode(page: SignInPage, where: Where): Promise<string> {
  for (let waited = 0; waited < maxCodeWait; waited += 1000) {
    const code = await textOf(page, "factor-code");
    if (code !== "") return code;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await page.reload();
  }
  throw await refusal(page, where, "the page shows no one-time code; it does where users can be picked");
}

/** With many users, not all are on the first page of the picker. @returns the users on that page, in words */
async function findInPicker(
  page: SignInPage,
  origin: string,
  { user }: SignInOptions,
  timeout: number,
): Promise<string> {
  if ((await page.locator(hook(`login-as-${user}`)).count()) > 0) return "";
  const listed = await pickable(page);
  const search = page.locator(hook("login-search"));
  if ((await search.count()) === 0) return listed;
  await search.fill(user, { timeout });
  await next(page, origin, timeout, `searching for "${user}"`, (pressing) => search.press("Enter", pressing));
  return listed;
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
      const listed = options.password === undefined ? await findInPicker(page, origin, options, timeout) : "";
      const submit = await logIn(page, here, options, listed);
      where = await next(page, origin, timeout, `signing in as "${user}"`, submit);
      signedIn = true;
    } else if (here.page === "factor" && !here.state.startsWith("error-")) {
      where = await giveFactor(page, origin, here, options, timeout);
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
