import { describe, expect, test } from "vitest";
import { enroll, register } from "../helpers/app.ts";
import { innards, underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { pick } from "../helpers/client.ts";

/** Text from requests, users and clients that a page or a header repeats. */

const idp = await underAttack();
const app = await register(idp);

describe("repeated input is shown as text", () => {
  const mark = `"'><img src=x onerror=alert(1)>{{7*7}}</script>`;
  const quoted = encodeURIComponent(mark);
  test.each([
    `/${quoted}`,
    `/device?user_code=${quoted}`,
    `/account?removed=${quoted}&gone=${quoted}&saved=${quoted}`,
    `/account/apps/${quoted}/remove`,
    `/interaction/${quoted}/login?q=${quoted}&page=${quoted}&lang=${quoted}&theme=${quoted}`,
    `/interaction/${quoted}/consent`,
    `/api/v2/oauth/logout?id_token_hint=${quoted}`,
    `/api/v2/oauth/logout?client_id=${quoted}&state=${quoted}`,
    `/api/v2/oauth/logout?client_id=demo-app&post_logout_redirect_uri=${quoted}`,
    `/api/v2/oauth/authorize?client_id=${quoted}`,
    `/api/v2/oauth/authorize?client_id=demo-app&redirect_uri=${quoted}&ui_locales=${quoted}&x=${quoted}`,
  ])("%s", async (path) => {
    const { browser } = await app.signIn();
    for (const one of [browser, new Browser(idp.issuer)]) {
      const visit = await one.open(path);
      expect(visit.body).not.toContain("<img");
      expect(visit.body).not.toMatch(innards);
      expect(visit.status).toBeLessThan(500);
    }
  });

  test("in every parameter of a request, with every page on the way", async () => {
    const user = await enroll(idp, { displayName: mark, about: mark, location: mark });
    const evil = await register(idp, { client_name: mark });
    const parameters = { state: mark, nonce: mark, login_hint: mark, ui_locales: mark, acr_values: mark };
    const browser = new Browser(idp.issuer);
    const login = await browser.open(evil.url(parameters));
    const wrong = await browser.press(login, "login-submit", { username: mark, password: mark });
    const consent = await pick(browser, await browser.open(login.url), user);
    const posted = await browser.open(evil.url({ ...parameters, response_mode: "form_post", prompt: "none" }));
    const allowed = await browser.press(consent, "consent-allow");
    const account = await browser.open("/account");
    const device = await browser.open(`/device?user_code=${quoted}`);
    for (const visit of [login, wrong, consent, posted, account, device]) {
      expect(visit.page).not.toBe("error");
      expect(visit.body).not.toContain("<img");
      expect(visit.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    }
    expect(allowed.left?.searchParams.get("state")).toBe(mark);
  });
});

test("line breaks in a response to the client do not make a header", async () => {
  const state = "x\r\nSet-Cookie: evil=1\r\n\r\n<script>\u0130\ud800";
  const browser = new Browser(idp.issuer);
  const { headers, left } = await browser.open(app.url({ state, scope: "\r\nX: y", prompt: "none" }));
  expect(headers.get("set-cookie") ?? "").not.toContain("evil");
  expect(left?.origin).toBe("http://localhost:3000");
  expect(left?.searchParams.get("state")).toBe(state.replace("\ud800", "\ufffd"));
});
