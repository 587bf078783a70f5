import { describe, expect, test } from "vitest";
import { register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, callback, paths, signIn } from "../helpers/client.ts";

/** A secret in the wrong place of a request that is not refused: its answer does not repeat it, and neither log nor ledger keep it. */

const secret = "Tr0ub4dor-and-a-whole-sentence";
const told: string[] = [];
const idp = await underAttack({
  dynamicRegistration: true,
  onRequest: (event) => told.push(JSON.stringify(event)),
});
const logout = "/api/v2/oauth/logout";

/** All that is known of the requests since: the lines of the log and the ledger. */
async function kept(): Promise<string> {
  const text = JSON.stringify([told.splice(0), await idp.requests.list()]);
  await idp.requests.clear();
  return text;
}

const form = (path: string, body: Readonly<Record<string, string>>, headers = {}): Promise<Response> =>
  fetch(idp.issuer + path, { method: "POST", body: new URLSearchParams(body), redirect: "manual", headers });
const parametersOf = ({ headers }: Response): URLSearchParams =>
  new URL(headers.get("location") ?? "", idp.issuer).searchParams;

describe("a POST that becomes a GET, because it came without cookies", () => {
  const right = {
    authorize: { response_type: "code", client_id: "demo-app", redirect_uri: callback, scope: "openid", state: "s" },
    logout: { client_id: "demo-app", post_logout_redirect_uri: "http://localhost:3000/", state: "s", ui_locales: "tr" },
  };
  const foreign = [
    "client_secret",
    "refresh_token",
    "password",
    "code_verifier",
    "code",
    "client_assertion",
    "username",
  ];

  test.each([
    ["authorize", paths.authorize],
    ["logout", logout],
  ] as const)(
    "%s leads to an address with the parameters that the endpoint knows, and no other",
    async (name, path) => {
      const sent = Object.fromEntries(foreign.map((one) => [one, secret]));
      const answer = await form(path, { ...right[name], ...sent, [secret]: "x", x: secret });
      expect(answer.status).toBe(303);
      expect(Object.fromEntries(parametersOf(answer))).toEqual(right[name]);
      expect(await kept()).not.toContain(secret);
    },
  );

  test.each([
    [
      "authorize",
      paths.authorize,
      ["scope", "redirect_uri", "login_hint", "nonce", "acr_values", "client_id", "claims"],
    ],
    ["logout", logout, ["client_id", "post_logout_redirect_uri", "ui_locales"]],
  ] as const)("%s keeps nothing of a known parameter that nobody checked yet", async (name, path, parameters) => {
    for (const one of parameters) {
      expect((await form(path, { ...right[name], [one]: secret })).status).toBe(303);
      expect(await kept(), one).not.toContain(secret);
    }
    await form(path, right[name]);
    // What is registered is not hidden.
    expect(await kept()).toContain("demo-app");
  });

  test("the resource may be sent more than once", async () => {
    const body = new URLSearchParams(right.authorize);
    for (const one of ["https://a.example.test", "https://b.example.test"]) body.append("resource", one);
    const answer = await fetch(idp.issuer + paths.authorize, { method: "POST", body, redirect: "manual" });
    expect(parametersOf(answer).getAll("resource")).toEqual(["https://a.example.test", "https://b.example.test"]);
  });
});

describe("the path of an app on the account page", () => {
  test("without a session", async () => {
    for (const method of ["GET", "POST"]) {
      const { status } = await fetch(`${idp.issuer}/account/apps/${secret}/remove`, { method, redirect: "manual" });
      expect(status).toBe(303);
    }
    expect(await kept()).not.toContain(secret);
  });

  test("with a session, to which that app is not connected", async () => {
    const { browser } = await signIn(idp);
    const account = await browser.open("/account");
    const csrf = /name="csrf" value="([^"]+)"/.exec(account.body)?.[1] ?? "";
    const path = `/account/apps/${secret}/remove`;
    const headers = { origin: new URL(idp.issuer).origin };
    for (const init of [{}, { method: "POST", headers, body: new URLSearchParams({ csrf }) }]) {
      const { status, headers: answered } = await browser.request(path, init);
      expect([status, answered.get("location")]).toEqual([303, "/account"]);
    }
    expect(await kept()).not.toContain(secret);
  });

  test("an app that exists is named", async () => {
    await fetch(`${idp.issuer}/account/apps/demo-app/remove`, { redirect: "manual" });
    expect(await kept()).toContain("/account/apps/demo-app/remove");
  });
});

test.each(["username", "login_hint", "q", "nonce", "prompt", "audience", "message", "iss"])(
  "a parameter that a registration does not know: %s",
  async (name) => {
    const known = { redirect_uris: [callback], client_name: "The shop of the whole town", scope: "openid profile" };
    const answer = await fetch(`${idp.issuer}/api/v2/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...known, [name]: secret }),
    });
    expect([answer.status, (await answer.text()).includes(secret)]).toEqual([201, false]);
    const text = await kept();
    expect(text).not.toContain(secret);
    for (const value of [callback, known.client_name, known.scope]) expect(text).toContain(value);
  },
);

test.each(["client_id", "redirect_uri", "scope", "resource", "username"])(
  "%s of a request that a fault answered",
  async (name) => {
    await idp.faults.add({ endpoint: "token", status: 200, body: "{}" });
    const right = { client_id: "demo-app", grant_type: "authorization_code", code: "x", redirect_uri: callback };
    expect((await form(paths.token, { ...right, [name]: secret })).status).toBe(200);
    expect(await kept()).not.toContain(secret);
  },
);

describe("a media type that is not read", () => {
  test.each([secret, `application/${secret}`, `text/plain; charset=${secret}`])("%s", async (type) => {
    for (const path of [paths.token, paths.authorize, "/api/v2/oauth/register"]) {
      const init = { method: "POST", headers: { "content-type": type, accept: "text/html" }, body: "x" };
      const answer = await fetch(idp.issuer + path, init);
      expect([answer.status, (await answer.text()).includes(secret)]).toEqual([415, false]);
    }
    expect(await kept()).not.toContain(secret);
  });

  test("a usual one is named", async () => {
    const init = { method: "POST", headers: { "content-type": "text/plain; charset=utf-8" }, body: "x" };
    expect(await (await fetch(idp.issuer + paths.token, init)).json()).toMatchObject({
      error_description: expect.stringContaining(
        "Content-Type 'text/plain' is not supported; send application/json or",
      ),
    });
  });
});

describe("the links to another language carry the parameters of the page's own route, and no other", () => {
  const foreign = {
    otp: "493817",
    password: "hunter2",
    post_logout_redirect_uri: "https://x.test/?k=hunter2",
    x: "493817",
  };
  const linked = (body: string): URLSearchParams =>
    new URLSearchParams(/<a href="\?([^"]*lang=tr)"/.exec(body)?.[1]?.replaceAll("&amp;", "&") ?? "none");
  const with_ = (path: string, own: Readonly<Record<string, string>>): string =>
    `${path}?${new URLSearchParams({ ...foreign, ...own }).toString()}`;
  const login = async (browser: Browser): Promise<string> =>
    new URL((await browser.open(authorizeUrl(idp))).url).pathname;

  test.each<[what: string, own: Record<string, string>, path: (browser: Browser) => Promise<string> | string]>([
    ["an unknown path", {}, () => "/nothing"],
    ["the start page", {}, () => "/"],
    ["the login page", { q: "al", page: "1" }, login],
    ["the page for a factor that is over", {}, () => "/interaction/none/factor"],
    ["the device page", { user_code: "WDJBMJHT" }, () => "/device"],
    [
      "the error page of an authorization request",
      { response_type: "code", client_id: "demo-app", redirect_uri: "http://localhost:1/", scope: "openid" },
      () => paths.authorize,
    ],
  ])("%s", async (_what, own, path) => {
    const { browser } = path.length === 0 ? await signIn(idp) : { browser: new Browser(idp.issuer) };
    const { body } = await browser.open(with_(await path(browser), own));
    expect(Object.fromEntries(linked(body))).toEqual({ ...own, lang: "tr" });
  });

  test("the account page", async () => {
    const { browser } = await signIn(idp);
    const { body } = await browser.open(with_("/account", { gone: "demo-app", saved: "1" }));
    expect(Object.fromEntries(linked(body))).toEqual({ gone: "demo-app", saved: "1", lang: "tr" });
  });

  test("the page after a sign-out: its own address is hidden where nobody registered it", async () => {
    const uri = `https://app.example.test/?token=hunter2&page=${secret}`;
    const { body } = await new Browser(idp.issuer).open(
      with_(logout, { state: "hunter2", post_logout_redirect_uri: uri }),
    );
    expect(body).not.toMatch(/hunter2|493817/);
    expect(body).not.toContain(secret);
    expect(linked(body).get("lang")).toBe("tr");
    // In the other language it says the same.
    const other = await new Browser(idp.issuer).open(`${logout}?${linked(body).toString()}`);
    expect([other.page, other.body.includes("id_token_hint")]).toEqual(["signed-out", true]);
  });

  test("a registered app stays known there", async () => {
    await register(idp, { client_id: "an-app-with-a-long-name" });
    const { body } = await new Browser(idp.issuer).open(with_(logout, { client_id: "an-app-with-a-long-name" }));
    expect(linked(body).get("client_id")).toBe("an-app-with-a-long-name");
  });
});
