import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { authorizeUrl, callback, paths } from "../helpers/client.ts";

/** How a request comes in (GET, POST) and how its response goes out (query, fragment, form_post). */

const idp = await serve();
const app = await register(idp);

/** A POST of the client's page: cross-site, so no cookie of ours comes with it. */
const fromClientPage = (body: string | URLSearchParams, init: RequestInit = {}) =>
  fetch(idp.issuer + paths.authorize, {
    method: "POST",
    body,
    headers: { "content-type": "application/x-www-form-urlencoded", origin: "http://localhost:3000" },
    redirect: "manual",
    ...init,
  });
const queryOf = (url: string): string => url.slice(url.indexOf("?") + 1);

describe("POST", () => {
  test("without the session cookie: 303 to the same request as GET", async () => {
    const query = queryOf(app.url({ state: "a b&c=ü", prompt: "login" }));
    const response = await fromClientPage(query);
    expect([response.status, response.headers.get("cache-control")]).toEqual([303, "no-store"]);
    const location = new URL(response.headers.get("location") ?? "", idp.issuer);
    expect(location.pathname).toBe(paths.authorize);
    expect([...location.searchParams]).toEqual([...new URLSearchParams(query)]);
  });

  test("a parameter that was sent twice stays twice", async () => {
    const response = await fromClientPage(`${queryOf(app.url())}&scope=openid`);
    const location = new URL(response.headers.get("location") ?? "", idp.issuer);
    expect(location.searchParams.getAll("scope")).toHaveLength(2);
  });

  test("with the session cookie: handled as GET", async () => {
    const { browser } = await app.signIn();
    const { status, left } = await browser.open(paths.authorize, {
      method: "POST",
      body: new URLSearchParams(queryOf(app.url({ state: "posted" }))),
    });
    expect(status).toBe(303);
    expect(left?.searchParams.get("state")).toBe("posted");
    expect(left?.searchParams.has("code")).toBe(true);
  });

  test("a body that is not a form: 415", async () => {
    const response = await fromClientPage("{}", { headers: { "content-type": "application/json" } });
    expect(response.status).toBe(415);
  });
});

/** The fields of a page that posts them by itself. */
function posted(visit: Visit): { action: string; fields: Record<string, string> } {
  const [form] = formsOf(visit.body);
  expect(form?.method).toBe("POST");
  return { action: form?.action ?? "", fields: Object.fromEntries(form?.fields ?? []) };
}

describe("response_mode=form_post", () => {
  test("success: a page that posts code, state and iss, with a button for browsers without scripts", async () => {
    const { browser } = await app.signIn();
    const visit = await browser.open(app.url({ response_mode: "form_post", state: `"><script>'&` }));
    expect([visit.status, visit.page]).toEqual([200, "form-post"]);
    const { action, fields } = posted(visit);
    expect(action).toBe(callback);
    expect(fields).toEqual({
      code: expect.stringMatching(/^[\w-]{43}$/) as string,
      state: `"><script>'&`,
      iss: idp.issuer,
    });
    expect((await app.exchange(fields["code"] ?? "")).status).toBe(200);
    expect(visit.body).toContain('id="form-post-continue"');
    expect(visit.headers.get("cache-control")).toBe("no-store");
  });

  test("its policy allows its one script, and has no form-action", async () => {
    const { headers } = await new Browser(idp.issuer).open(app.url({ response_mode: "form_post", prompt: "none" }));
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/script-src 'sha256-[^']+';/);
    expect(policy).not.toContain("form-action");
  });

  test.each<[name: string, change: Parameters<typeof authorizeUrl>[1], error: string]>([
    ["a refusal", { prompt: "none" }, "login_required"],
    ["a refusal of something else in the request", { response_type: "token" }, "unsupported_response_type"],
    ["a refusal of the scope", { scope: "nonsense" }, "invalid_scope"],
  ])("%s goes the same way", async (_name, change, error) => {
    const visit = await new Browser(idp.issuer).open(app.url({ response_mode: "form_post", state: "s1", ...change }));
    const { action, fields } = posted(visit);
    expect(action).toBe(callback);
    expect(fields).toEqual({ error, error_description: expect.any(String) as string, state: "s1", iss: idp.issuer });
  });

  test("denied on the consent page, and canceled on the login page: the same", async () => {
    const own = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(own.url({ response_mode: "form_post" }));
    const consent = await browser.press(login, "login-as-alice");
    expect(posted(await browser.press(consent, "consent-deny")).fields["error"]).toBe("access_denied");
    const again = await browser.open(own.url({ response_mode: "form_post", prompt: "login" }));
    expect(posted(await browser.press(again, "login-cancel")).fields["error"]).toBe("access_denied");
  });
});

/** The parameters of the fragment; the query must have none. */
function fragmentOf({ left }: Visit): Record<string, string> {
  expect(left?.search).toBe("");
  return Object.fromEntries(new URLSearchParams(left?.hash.slice(1)));
}

describe("response_mode=fragment", () => {
  test("success: code, state and iss are in the fragment", async () => {
    const { browser } = await app.signIn();
    const visit = await browser.open(app.url({ response_mode: "fragment", state: "a b&c#d" }));
    const { code = "", ...others } = fragmentOf(visit);
    expect([visit.status, others]).toEqual([303, { state: "a b&c#d", iss: idp.issuer }]);
    expect((await app.exchange(code)).status).toBe(200);
  });

  test("a refusal goes the same way", async () => {
    const visit = await new Browser(idp.issuer).open(app.url({ response_mode: "fragment", prompt: "none" }));
    expect(fragmentOf(visit)).toMatchObject({ error: "login_required", iss: idp.issuer });
  });

  test("a denial goes the same way", async () => {
    const own = await register(idp);
    const browser = new Browser(idp.issuer);
    const login = await browser.open(own.url({ response_mode: "fragment" }));
    const consent = await browser.press(login, "login-as-alice");
    expect(fragmentOf(await browser.press(consent, "consent-deny"))).toMatchObject({ error: "access_denied" });
  });
});

describe("the refusal of a request object", () => {
  const objectOf = (payload: unknown): string => `e30.${Buffer.from(JSON.stringify(payload)).toString("base64url")}.x`;
  const refused = (request: string, change: Parameters<typeof authorizeUrl>[1] = {}): Promise<Visit> =>
    new Browser(idp.issuer).open(app.url({ request, state: null, ...change }));

  test("goes back by the mode and with the state that only the object names", async () => {
    const fields = fragmentOf(await refused(objectOf({ response_mode: "fragment", state: "of-the-object" })));
    expect(fields).toMatchObject({ error: "request_not_supported", state: "of-the-object" });
  });

  test("parameters outside the object win", async () => {
    const object = objectOf({ response_mode: "fragment", state: "of-the-object" });
    const { left } = await refused(object, { response_mode: "query", state: "outside" });
    expect([left?.hash, left?.searchParams.get("state")]).toEqual(["", "outside"]);
  });

  test.each([
    ["an unknown mode, and a state that is not a string", objectOf({ response_mode: "web_message", state: 7 })],
    ["no JSON", "e30.e3s.x"],
    ["a list", objectOf([])],
    ["more than 8 kB", objectOf({ state: "of-the-object", filler: "x".repeat(9000) })],
  ])("ignores an object with %s", async (_what, request) => {
    const { left } = await refused(request);
    expect(left?.searchParams.get("error")).toBe("request_not_supported");
    expect(left?.searchParams.has("state")).toBe(false);
  });

  test("is a page where the redirect URI is not registered, whatever the object says", async () => {
    const visit = await refused(objectOf({ redirect_uri: callback }), { redirect_uri: "https://evil.test/" });
    expect([visit.status, visit.page, visit.left]).toEqual([400, "error", null]);
  });
});

describe("every response to the client", () => {
  test.each(["query", "form_post"])("carries iss, is not stored, and names no referrer: %s", async (mode) => {
    const { browser } = await app.signIn();
    const { headers, left, body } = await browser.open(app.url({ response_mode: mode }));
    const fields = new URLSearchParams(formsOf(body)[0]?.fields.map(([name, value]) => [name, value]));
    expect((left?.searchParams ?? fields).get("iss")).toBe(idp.issuer);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe(mode === "query" ? "no-referrer" : "strict-origin");
  });
});
