import { expect, test } from "vitest";
import { renderLogin, type LoginView } from "../../src/http/pages/login.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, signIn } from "../helpers/client.ts";
import { elementsOf, hooked, unescapeHtml, wordsOf } from "../helpers/html.ts";
import { register, serve } from "../helpers/app.ts";
import { loginViews } from "../helpers/views/login.ts";

const renderer = createRenderer();

const login = (changes: Partial<LoginView> = {}): string =>
  renderLogin(renderer, { ...loginViews["login-default"], ...changes }).html;

const isOpen = (html: string): boolean => html.includes('<details class="other" open');

test("has a form for each user of the picker: username, pick, csrf", () => {
  const html = login();
  const form = html.split("<form").find((part) => part.includes('id="login-as-alice"'));
  const values = Object.fromEntries(
    elementsOf(`<form${form?.split("</form>")[0] ?? ""}`).map(({ attributes }) => [
      attributes["name"],
      attributes["value"],
    ]),
  );
  expect(values).toMatchObject({ csrf: "c5rf", username: "alice", pick: "1" });
});

test("says in words who a button signs in as, and that a user is suspended or banned", () => {
  const html = login();
  const wordsOfButton = (id: string): string =>
    wordsOf(html.slice(html.indexOf(`<button class="person" id="${id}"`)).split("</button>")[0] ?? "");
  expect(wordsOfButton("login-as-alice")).toMatch(/Continue as\s+Alice Adams\s+alice@example\.com\s+admin\s*$/);
  expect(wordsOfButton("login-as-carol")).toMatch(/suspended\s*$/);
  expect(wordsOfButton("login-as-dave")).toMatch(/banned\s*$/);
});

test("keeps the password form folded until a hint or an error makes it likely", () => {
  expect(isOpen(login())).toBe(false);
  expect(isOpen(login({ state: "hint", username: "bob" }))).toBe(true);
  expect(isOpen(login({ state: "error-suspended", username: "carol" }))).toBe(true);
});

test("shows the password form alone where the picker is off, and first after a wrong password", () => {
  const alone = login({ picker: null });
  expect(alone).not.toContain('<details class="other"');
  expect(alone).not.toContain("login-picker");
  const wrong = login({ state: "error-credentials", username: "alice" });
  expect(wrong.indexOf("login-password")).toBeLessThan(wrong.indexOf("login-picker"));
});

test.each([
  ["error-credentials", "Wrong user name or password"],
  ["error-suspended", "suspended"],
  ["error-banned", "banned"],
] as const)("%s comes first on the page, and in the title", (state, words) => {
  const html = login({ state, username: "carol", picker: null });
  const { attributes } = hooked(html, "login-error");
  expect(attributes["role"]).toBe("alert");
  expect(wordsOf(html.slice(html.indexOf('id="login-error"')).split("</div>")[0] ?? "")).toContain(words);
  expect(html).toContain("<title>Error: Sign in &#183; idp</title>");
  expect(html.indexOf("login-error")).toBeLessThan(html.indexOf("login-form"));
});

test("marks the fields of a wrong password, keeps the name and never the password", () => {
  const html = login({ state: "error-credentials", username: "alice" });
  expect(hooked(html, "login-username").attributes).toMatchObject({ value: "alice", "aria-invalid": "true" });
  expect(hooked(html, "login-password").attributes).not.toHaveProperty("value");
  expect(hooked(login(), "login-username").attributes).not.toHaveProperty("aria-invalid");
});

test("shows a message in place of the sentence of the state", () => {
  const html = login({
    state: "error-credentials",
    message: { text: "alice has no password", fix: "idp users edit alice", command: null },
  });
  expect(html).toContain("alice has no password");
  expect(html).toContain("idp users edit alice");
  expect(html).not.toContain("Wrong user name or password");
});

test("says when the user has to sign in again, and fixes the user name", () => {
  const html = login({
    state: "reauth",
    username: "alice",
    onlyUser: "alice",
    isFixed: true,
    reauth: { signedInAgo: 7300, maxAge: 300 },
  });
  expect(html).toContain("You signed in 2 hours 2 minutes ago. The app requires a sign-in within the last 5 minutes.");
  expect(hooked(html, "login-username").attributes).toHaveProperty("readonly");
  expect(html).toContain("Confirm it is you");
});

test("links to the neighboring pages only", () => {
  const { picker } = loginViews["login-many-users"];
  const html = login({ picker });
  expect(hooked(html, "login-previous").attributes["href"]).toBe("/interaction/f7Q2/login?q=us&page=1");
  expect(hooked(html, "login-next").attributes["href"]).toBe("/interaction/f7Q2/login?q=us&page=3");
  expect(wordsOf(html).replace(/\s/g, "")).toContain("13to24of500");
  expect(hooked(html, "login-search").attributes).toMatchObject({ name: "q", value: "us" });
  const last = login({ picker: { ...picker, page: 42 } });
  expect(last).not.toContain("login-next");
  const first = login({ picker: { ...picker, page: 1, query: "" } });
  expect(first).not.toContain("login-previous");
  expect(hooked(first, "login-next").attributes["href"]).toBe("/interaction/f7Q2/login?page=2");
});

test("an unknown user in the hint: the page names the command that adds them", async () => {
  const idp = await serve();
  const fixFor = async (hint: string): Promise<string | undefined> => {
    const { body, state } = await new Browser(idp.issuer).open(authorizeUrl(idp, { login_hint: hint }));
    expect(state).toBe("hint");
    return unescapeHtml(/id="login-notice"[^]*?<code[^>]*>([^<]*)<\/code>/.exec(body)?.[1] ?? "none");
  };
  expect(await fixFor("erin@example.com")).toBe("idp users add erin --email erin@example.com");
  expect(await fixFor("erin")).toBe("idp users add erin");
  for (const odd of ["er in; rm -rf /", "erin@\u202eexample.com", "e@x.test\nreboot"]) {
    expect(await fixFor(odd)).toBe("none");
  }
  expect(await fixFor("erin@$(reboot)")).toBe("idp users add erin --email VALUE");
});

test("a sign-in for the device page says so", async () => {
  const idp = await serve();
  const { body } = await new Browser(idp.issuer).open("/device");
  expect(wordsOf(body)).toContain("to connect a device");
});

test("with prompt=select_account, the user who is signed in comes first", async () => {
  const idp = await serve();
  const { browser } = await signIn(idp, { user: "bob" });
  const { body, state } = await browser.open(authorizeUrl(idp, { prompt: "select_account" }));
  expect([state, /login-as-(\w+)/.exec(body)?.[1]]).toEqual(["default", "bob"]);
});

test("offers no search where all users fit on one page", () => {
  expect(login()).not.toContain("login-search");
});

test("offers to cancel only where there is an app to return to", () => {
  expect(hooked(login(), "login-cancel").attributes).toMatchObject({ name: "cancel", value: "1" });
  expect(login({ canCancel: false })).not.toContain("login-cancel");
});

test("links to the policy and the terms of the app, in the language of the page", async () => {
  const idp = await serve();
  const links = { policy_uri: "https://app.test/privacy", "policy_uri#tr": "https://app.test/gizlilik" };
  const { client_id } = (await register(idp, { ...links, tos_uri: "https://app.test/terms" })).credentials;
  const shown = async (change: Record<string, string>) =>
    (await new Browser(idp.issuer).open(authorizeUrl(idp, change))).body;
  const hrefOf = (html: string, id: string) => hooked(html, id).attributes["href"];
  const english = await shown({ client_id });
  expect(hrefOf(english, "login-policy")).toBe("https://app.test/privacy");
  expect(hrefOf(english, "login-terms")).toBe("https://app.test/terms");
  expect(hrefOf(await shown({ client_id, ui_locales: "tr" }), "login-policy")).toBe("https://app.test/gizlilik");
  expect(await shown({})).not.toContain("login-policy");
});
