import { expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { pick, userinfo } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";

/** The start page, and the sign-in to our own app that it offers. */

const settings = { try_it: true };
const idp = await serve({ settings });

/** What the JSON blocks of a page show, without their marks. */
const textOf = ({ body }: Visit): string => unescapeHtml(body.replace(/<[^>]*>/g, ""));

const accessTokenIn = ({ body }: Visit): string => /name="access_token" value="([^"]+)"/.exec(body)?.[1] ?? "";

const csrfOf = ({ body }: Visit): string => /name="csrf" value="([^"]+)"/.exec(body)?.[1] ?? "";
const bodyWith = (csrf: string): URLSearchParams => new URLSearchParams({ csrf });

async function begin() {
  const browser = new Browser(idp.issuer);
  const home = await browser.open(`${idp.issuer}/`);
  return { browser, login: await browser.press(home, "home-try") };
}

/** Signs a user of the test's own in. */
async function signIn() {
  const user = await enroll(idp, { displayName: "Try Me", emailVerified: true });
  const { browser, login } = await begin();
  return { browser, user, done: await pick(browser, login, user) };
}

test("two clicks from the start page end with the claims, the decoded ID token and UserInfo", async () => {
  const { user, done } = await signIn();
  expect([done.page, done.state, done.status]).toEqual(["try-it", "done", 200]);
  const text = textOf(done);
  for (const shown of [`"preferred_username": "${user}"`, `"email": "${user}@example.com"`, '"aud": "idp-try-it"']) {
    expect(text).toContain(shown);
  }
  expect(text).toMatch(/GET \/api\/v2\/oauth\/userinfo\s+{\s+"sub"/);
});

test("Remove access: the next UserInfo call is refused, on the page and everywhere", async () => {
  const { browser, done } = await signIn();
  const token = accessTokenIn(done);
  const called = await browser.press(done, "try-it-call");
  expect([called.state, textOf(called).includes("HTTP 200")]).toEqual(["called", true]);
  const removed = await browser.press(called, "try-it-remove");
  expect([removed.page, removed.state, textOf(removed).includes("HTTP 403")]).toEqual(["try-it", "removed", true]);
  expect(textOf(removed)).toContain('"error": "access_revoked"');
  expect((await userinfo(idp, token)).json).toMatchObject({ error: "access_revoked" });
  const again = await browser.press(removed, "try-it-again");
  expect([again.page, again.state]).toEqual(["try-it", "done"]);
  expect((await userinfo(idp, accessTokenIn(again))).status).toBe(200);
  expect((await userinfo(idp, token)).status).toBe(403);
});

test("a user who cancels sees the error that the app received", async () => {
  const { browser, login } = await begin();
  const refused = await browser.press(login, "login-cancel");
  expect([refused.page, refused.state, refused.status]).toEqual(["try-it", "refused", 400]);
  expect(refused.body).toContain("access_denied");
});

test("the page names each claim beside its label, as an app asks for it", async () => {
  const { done } = await signIn();
  for (const claim of ["preferred_username", "email_verified"]) {
    expect(done.body).toMatch(new RegExp(`<dt>[^<]+ <code class="hint" dir="ltr">${claim}</code></dt>`));
  }
});

test("a response is taken once, and only in the browser that sent the request", async () => {
  const { browser, done } = await signIn();
  const repeated = await browser.open(done.url);
  expect([repeated.state, repeated.status]).toEqual(["over", 400]);
  expect((await userinfo(idp, accessTokenIn(done))).status).toBe(200);
  const elsewhere = await new Browser(idp.issuer).open(done.url);
  expect(elsewhere.state).toBe("over");
  await stateOf(browser);
  const forged = await browser.open(done.url.replace(/state=[^&]+/, "state=forged"));
  expect(forged.state).toBe("over");
});

test("a response of another issuer is not accepted", async () => {
  const browser = new Browser(idp.issuer);
  const response = new URLSearchParams({ code: "x", state: await stateOf(browser), iss: "https://evil.test" });
  const refused = await browser.open(`${idp.issuer}/_idp/try/callback?${response.toString()}`);
  expect([refused.state, refused.body.includes("iss of the response is not this issuer")]).toEqual(["refused", true]);
});

test("an ID token for another nonce is not accepted", async () => {
  const { browser, login } = await begin();
  const [name = "", value = ""] = [...browser.cookies].find(([each]) => each.endsWith("_try")) ?? [];
  const [state, , verifier] = value.split(".");
  browser.setCookie(name, `${state ?? ""}.another-nonce.${verifier ?? ""}`);
  const refused = await pick(browser, login, await enroll(idp));
  expect([refused.page, refused.state, refused.status]).toEqual(["try-it", "refused", 400]);
  expect(refused.body).toContain("the nonce of the ID token does not match the request");
  expect(accessTokenIn(refused)).toBe("");
});

/** Begins a sign-in. @returns its `state` */
async function stateOf(browser: Browser): Promise<string> {
  const home = await browser.open(`${idp.issuer}/`);
  const body = bodyWith(csrfOf(home));
  const answer = await browser.request(`${idp.issuer}/_idp/try`, { method: "POST", body });
  return /idp_\d+_try=([^.]+)\./.exec(answer.headers.getSetCookie().join("\n"))?.[1] ?? "";
}

test.each(["/_idp/try", "/_idp/try/userinfo"])("POST %s needs the form's csrf value and our origin", async (path) => {
  const browser = new Browser(idp.issuer);
  const home = await browser.open(`${idp.issuer}/`);
  const csrf = csrfOf(home);
  const post = async (value: string, origin: string) =>
    (await browser.request(idp.issuer + path, { method: "POST", body: bodyWith(value), headers: { origin } })).status;
  expect(await post("guessed", idp.issuer)).toBe(403);
  expect(await post(csrf, "http://localhost:3000")).toBe(403);
  expect(await post(csrf, idp.issuer)).toBeLessThan(400);
});

test("the token of another app removes nothing", async () => {
  const app = await register(idp);
  const { access_token: token } = await app.tokens();
  const { browser, done } = await signIn();
  const shown = await browser.press(done, "try-it-remove", { access_token: token });
  expect(textOf(shown)).toContain("HTTP 200");
  expect((await userinfo(idp, token)).status).toBe(200);
});

test("without the setting the start page offers no sign-in, and there is none", async () => {
  const off = await serve({ settings: { try_it: false } });
  const home = await new Browser(off.issuer).open(`${off.issuer}/`);
  expect([home.page, home.state, home.body.includes("<form")]).toEqual(["home", "default", false]);
  expect(home.headers.getSetCookie()).toEqual([]);
  for (const path of ["/_idp/try/callback", "/_idp/try"]) {
    const method = path.endsWith("try") ? "POST" : "GET";
    expect((await fetch(off.issuer + path, { method })).status).toBe(404);
  }
});

test("under another name than the issuer's, the start page leads to the issuer", async () => {
  const home = await new Browser(`http://127.0.0.1:${idp.port}`).open(`http://127.0.0.1:${idp.port}/`);
  expect(home.body).toContain(
    `id="home-elsewhere" data-testid="home-elsewhere" class="button primary" href="${idp.issuer}"`,
  );
});

test("an issuer with a path", async () => {
  const below = await serve({ settings, port: 0, issuer: "http://localhost:4399/tenant" });
  const page = await fetch(`http://localhost:${below.port}/tenant`, { headers: { accept: "text/html" } });
  expect(await page.text()).toContain('href="http://localhost:4399/tenant"');
});

test("the pages as data", async () => {
  const headers = { accept: "application/json" };
  const callback = await fetch(`${idp.issuer}/_idp/try/callback`, { headers });
  expect(await callback.json()).toMatchObject({
    page: "try-it",
    state: "over",
    actions: [{ name: "begin", method: "POST", href: "/_idp/try" }, { name: "home" }],
  });
});
