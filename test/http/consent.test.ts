import { describe, expect, test } from "vitest";
import { register, serve, type App } from "../helpers/app.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { elementsOf } from "../helpers/html.ts";
import { jwtPart, pick, userinfo } from "../helpers/client.ts";

/** Consent: the ticked scopes are granted, and a granted scope is not requested again. */

const idp = await serve({
  fixtures: {
    users: [{ username: "alice", email: "alice@example.com" }, { username: "bob" }],
    scopes: { "orders:read": { description: { en: "See your orders", tr: "Siparişlerini gör" } } },
  },
});

const grantOf = async (app: App, user = "alice") => {
  const [grant] = await idp.call("grants.list", { client: app.credentials.client_id, user });
  return grant;
};
const userKeys = async (token: string) => Object.keys((await userinfo(idp, token)).json["user"] as object).slice(4);

/** The consent page of a request. */
async function asked(app: App, change: Record<string, string>, browser = new Browser(idp.issuer)) {
  const visit = await browser.open(app.url(change));
  return { browser, page: visit.page === "login" ? await pick(browser, visit, "alice") : visit };
}
const codeOf = (visit: Visit): string => visit.left?.searchParams.get("code") ?? "";
/** The scopes that stand ticked, or locked. */
const ticked = ({ body }: Visit): string[] =>
  formsOf(body)
    .flatMap(({ fields }) => fields)
    .flatMap(([name, value]) => (name === "scope" ? [value] : []));

test("every scope is ticked; the page names client, user and scopes, with descriptions from fixtures", async () => {
  const app = await register(idp, { client_name: "Reports" });
  const { page } = await asked(app, { scope: "openid email orders:read" });
  expect([page.page, page.state, page.status]).toEqual(["consent", "default", 200]);
  expect(ticked(page)).toEqual(["openid", "email", "orders:read"]);
  for (const words of ["Reports", "alice@example.com", "See your orders"]) expect(page.body).toContain(words);
});

test("links to the client's pages, in the language of the page; a client without them has no links", async () => {
  const app = await register(idp, {
    policy_uri: "https://app.example.test/privacy",
    ...{ "policy_uri#tr": "https://app.example.test/gizlilik" },
    tos_uri: "https://app.example.test/terms?a=1&b=2",
  });
  const linksOf = async (of: App, language: string): Promise<unknown[]> => {
    const { page } = await asked(of, { scope: "openid", ui_locales: language });
    const elements = elementsOf(page.body).filter(({ attributes: { id = "" } }) => /^consent-(policy|terms)$/.test(id));
    for (const { attributes } of elements) expect(attributes["rel"]).toBe("noopener noreferrer");
    return elements.map(({ attributes }) => attributes["href"]);
  };
  const terms = "https://app.example.test/terms?a=1&b=2";
  expect(await linksOf(app, "en")).toEqual(["https://app.example.test/privacy", terms]);
  expect(await linksOf(app, "tr")).toEqual(["https://app.example.test/gizlilik", terms]);
  expect(await linksOf(await register(idp), "en")).toEqual([]);
});

describe("unticking", () => {
  test("the ticked scopes are granted: grant, token response, access token, ID token and UserInfo follow", async () => {
    const app = await register(idp);
    const { browser, page } = await asked(app, { scope: "openid email phone social" });
    const { json } = await app.exchange(
      codeOf(await browser.press(page, "consent-allow", { scope: ["openid", "social"] })),
    );
    expect(json.scope).toBe("openid social");
    expect(jwtPart(json.access_token, 1)["scope"]).toBe("openid social");
    expect(jwtPart(json.id_token, 1)).not.toHaveProperty("email");
    expect(await userKeys(json.access_token)).toEqual(["socialLinks"]);
    expect((await grantOf(app))?.scope).toBe("openid social");
  });

  test("openid cannot be unticked, also by hand", async () => {
    const app = await register(idp);
    const { browser, page } = await asked(app, { scope: "openid email" });
    const { json } = await app.exchange(codeOf(await browser.press(page, "consent-allow", { scope: null })));
    expect(json.scope).toBe("openid");
  });

  test("nothing ticked: the base fields, and still an ID token", async () => {
    const app = await register(idp);
    const { browser, page } = await asked(app, { scope: "email phone" });
    const { json } = await app.exchange(codeOf(await browser.press(page, "consent-allow", { scope: null })));
    expect(json.scope).toBeUndefined();
    expect(jwtPart(json.id_token, 1)["sub"]).toBeDefined();
    expect(await userKeys(json.access_token)).toEqual([]);
  });

  test("a scope that was not asked for cannot be ticked by hand", async () => {
    const app = await register(idp);
    const { browser, page } = await asked(app, { scope: "openid email" });
    const { json } = await app.exchange(
      codeOf(await browser.press(page, "consent-allow", { scope: ["openid", "email", "phone"] })),
    );
    expect(json.scope).toBe("openid email");
  });

  test("an unticked scope is requested again the next time", async () => {
    const app = await register(idp);
    const { browser, page } = await asked(app, { scope: "openid email" });
    await browser.press(page, "consent-allow", { scope: ["openid"] });
    expect((await browser.open(app.url({ scope: "openid" }))).left).not.toBeNull();
    expect((await browser.open(app.url({ scope: "openid email" }))).state).toBe("incremental");
  });
});

describe("seamless and incremental", () => {
  test("everything granted, or fewer: no question", async () => {
    const app = await register(idp);
    const { browser } = await app.signIn({ scope: "openid email phone" });
    for (const scope of ["openid email phone", "phone openid", "openid"]) {
      const { left } = await browser.open(app.url({ scope }));
      expect(left?.searchParams.has("code")).toBe(true);
    }
    expect((await grantOf(app))?.scope).toBe("openid email phone");
  });

  test("a code for fewer scopes than are granted gives fewer", async () => {
    const app = await register(idp);
    const { browser } = await app.signIn({ scope: "openid email phone" });
    const { json } = await app.exchange((await app.signIn({ browser, scope: "openid phone" })).code);
    expect(json.scope).toBe("openid phone");
    expect(await userKeys(json.access_token)).toEqual(["phone"]);
  });

  test("new scopes: asked, shown apart from those already granted; the grant then holds both", async () => {
    const app = await register(idp);
    const { browser } = await app.signIn({ scope: "openid email" });
    const { page } = await asked(app, { scope: "openid email phone" }, browser);
    expect(page.state).toBe("incremental");
    const [fresh = "", granted = ""] = page.body.split('<details class="granted"');
    expect([fresh.includes("scope-phone"), fresh.includes("scope-email")]).toEqual([true, false]);
    expect([granted.includes("scope-phone"), granted.includes("scope-email")]).toEqual([false, true]);
    await browser.press(page, "consent-allow");
    expect((await grantOf(app))?.scope).toBe("openid email phone");
  });

  test("a grant keeps the order of its scopes, whichever of them are asked for again", async () => {
    const app = await register(idp);
    const { browser } = await app.signIn({ scope: "openid email" });
    await browser.press((await asked(app, { scope: "openid phone" }, browser)).page, "consent-allow");
    expect((await grantOf(app))?.scope).toBe("openid email phone");
  });

  test("new scopes denied: earlier ones stay granted", async () => {
    const app = await register(idp);
    const { browser, code } = await app.signIn({ scope: "openid email" });
    const { json } = await app.exchange(code);
    const { page } = await asked(app, { scope: "openid phone" }, browser);
    await browser.press(page, "consent-deny");
    expect((await grantOf(app))?.scope).toBe("openid email");
    expect((await userinfo(idp, json.access_token)).status).toBe(200);
  });

  test("one grant per user and client: another user and another client are asked", async () => {
    const [app, other] = [await register(idp), await register(idp)];
    const { browser } = await app.signIn();
    expect((await browser.open(other.url())).page).toBe("consent");
    const bob = new Browser(idp.issuer);
    expect((await pick(bob, await bob.open(app.url()), "bob")).page).toBe("consent");
    expect(await grantOf(app, "bob")).toBeUndefined();
  });
});

describe("prompt=consent", () => {
  test("the request's scopes become what is ticked now, granted scopes that are not in it stay", async () => {
    const app = await register(idp);
    const { browser, code } = await app.signIn({ scope: "openid email phone" });
    const { json: before } = await app.exchange(code);
    const { page } = await asked(app, { scope: "openid email", prompt: "consent" }, browser);
    expect(page.state).toBe("again");
    const { json } = await app.exchange(codeOf(await browser.press(page, "consent-allow", { scope: ["openid"] })));
    expect(json.scope).toBe("openid");
    expect((await grantOf(app))?.scope.split(" ").sort()).toEqual(["openid", "phone"]);
    // UserInfo answers token scopes ∩ the grant's present scopes.
    expect(await userKeys(before.access_token)).toEqual(["phone"]);
    expect(jwtPart(before.access_token, 1)["scope"]).toBe("openid email phone");
  });

  test("a scope that was left out is not ticked when it is asked for again, and says so", async () => {
    const app = await register(idp);
    const { page, browser } = await asked(app, { scope: "openid email phone" });
    await browser.press(page, "consent-allow", { scope: ["openid", "phone"] });
    const again = await asked(app, { scope: "openid email phone" }, browser);
    const row = /<label class="scope" for="consent-scope-email">[^]*?<\/label>/.exec(again.page.body)?.[0] ?? "";
    expect(row).toContain("Not allowed so far");
    expect(row).not.toContain("checked");
    await browser.press(again.page, "consent-allow");
    expect((await grantOf(app))?.scope).toBe("openid phone");
  });

  test("a scope that returns to the grant returns to the older token", async () => {
    const app = await register(idp);
    const { browser, code } = await app.signIn({ scope: "openid email" });
    const { json: before } = await app.exchange(code);
    const less = await asked(app, { scope: "openid email", prompt: "consent" }, browser);
    await browser.press(less.page, "consent-allow", { scope: ["openid"] });
    expect(await userKeys(before.access_token)).toEqual([]);
    const more = await asked(app, { scope: "openid email" }, browser);
    await browser.press(more.page, "consent-allow", { scope: ["openid", "email"] });
    expect(await userKeys(before.access_token)).toEqual(["email"]);
  });
});

describe("without a page", () => {
  test("skip_consent of the client: never asked, and recorded as policy", async () => {
    const app = await register(idp, { skip_consent: true });
    const browser = new Browser(idp.issuer);
    const { left } = await pick(browser, await browser.open(app.url({ scope: "openid email" })), "alice");
    expect(left?.searchParams.has("code")).toBe(true);
    expect(await grantOf(app)).toMatchObject({ scope: "openid email", status: "active" });
  });

  test("a grant by policy can be revoked like any other", async () => {
    const app = await register(idp, { skip_consent: true });
    const { access_token: token } = await app.tokens();
    await idp.revoke({ client: app.credentials.client_id });
    expect((await userinfo(idp, token)).json.error).toBe("access_revoked");
  });
});

test("a grant says what, when and for whom", async () => {
  const app = await register(idp);
  await app.signIn({ scope: "openid email" });
  expect(await grantOf(app)).toEqual({
    id: expect.stringMatching(/^g_/) as string,
    user: "alice",
    client: app.credentials.client_id,
    scope: "openid email",
    status: "active",
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    revokedAt: null,
  });
});
