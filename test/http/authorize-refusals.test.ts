import { createServer } from "node:http";
import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, callback, paths } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";

/** What the authorization endpoint refuses: with a page while the client's address is not proven, else by redirect. */

const notes: string[] = [];
const idp = await serve({ log: (note) => notes.push(note) });
await register(idp, { client_id: "no-code", grant_types: ["client_credentials"], redirect_uris: [callback] });
await register(idp, { client_id: "narrow", scope: "openid email" });

type Change = Parameters<typeof authorizeUrl>[1];
const open = (change: Change, more = "") => new Browser(idp.issuer).open(authorizeUrl(idp, change) + more);

test("a POST that is too long to be repeated as GET is refused by redirect, with the reason", async () => {
  const body = new URLSearchParams(new URL(authorizeUrl(idp, { nonce: "x".repeat(50_000) })).search);
  const { status, left } = await new Browser(idp.issuer).open(paths.authorize, { method: "POST", body });
  expect([status, left?.origin]).toEqual([303, "http://localhost:3000"]);
  expect(left?.searchParams.get("error_description")).toMatch(/characters long; at most 16384 are accepted/);
});

describe("with a page of status 400, and never a redirect", () => {
  test.each<[name: string, change: Change, more: string, code: string, message: RegExp]>([
    ["no client_id", { client_id: null }, "", "invalid_request", /client_id is missing/],
    ["a state that is no UTF-8", { state: null }, "&state=%C3%28", "invalid_request", /state is not UTF-8/],
    [
      "nor is it where another value holds the sign for such bytes",
      { state: null },
      "&state=%C3%28&x=%EF%BF%BD",
      "invalid_request",
      /state is not UTF-8/,
    ],
    ["an unknown client", { client_id: "nobody" }, "", "invalid_client", /"nobody" is not registered here/],
    ["client_id twice", {}, "&client_id=demo-app", "invalid_request", /client_id was sent 2 times/],
    ["no redirect_uri", { redirect_uri: null }, "", "invalid_request", /redirect_uri is missing/],
    ["an empty redirect_uri", { redirect_uri: "" }, "", "invalid_request", /redirect_uri is missing/],
    ["redirect_uri twice", {}, `&redirect_uri=${callback}`, "invalid_request", /redirect_uri was sent 2 times/],
    [
      "redirect_uri twice, with a thousand parameters between",
      {},
      `${"&x=".repeat(1000)}&redirect_uri=${callback}`,
      "invalid_request",
      /redirect_uri was sent 2 times/,
    ],
    [
      "an unregistered one",
      { redirect_uri: "https://evil.test/" },
      "",
      "invalid_request",
      /is not registered for client/,
    ],
    [
      "one of another client",
      { redirect_uri: "http://localhost:5173/callback" },
      "",
      "invalid_request",
      /is not registered/,
    ],
    [
      "prompt=none from nowhere",
      { redirect_uri: "https://evil.test/", prompt: "none" },
      "",
      "invalid_request",
      /not registered/,
    ],
    [
      "form_post to nowhere",
      { redirect_uri: "https://evil.test/", response_mode: "form_post" },
      "",
      "invalid_request",
      /not/,
    ],
  ])("%s", async (_name, change, more, code, message) => {
    const visit = await open(change, more);
    expect(visit).toMatchObject({ status: 400, page: "error", left: null });
    expect(visit.headers.get("location")).toBeNull();
    expect(visit.body).toContain(`data-testid="error-code">${code}<`);
    expect(unescapeHtml(visit.body)).toMatch(message);
    expect(visit.body).not.toContain('action="https://evil.test/"');
  });

  test("client and redirect URI are settled before `request` and `request_uri` are looked at", async () => {
    for (const change of [{ request: "x" }, { request_uri: "https://evil.test/" }]) {
      expect(await open({ ...change, client_id: "nobody" })).toMatchObject({ status: 400, page: "error" });
      expect(await open({ ...change, redirect_uri: "https://evil.test/" })).toMatchObject({
        status: 400,
        page: "error",
      });
    }
  });

  test("as JSON where a program asks, with the same status", async () => {
    const response = await fetch(authorizeUrl(idp, { client_id: "nobody" }), {
      headers: { accept: "application/json" },
      redirect: "manual",
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: "invalid_client" });
  });
});

describe("by redirect, with error, error_description, state and iss", () => {
  test.each<[name: string, change: Change, error: string, description: RegExp]>([
    ["no response_type", { response_type: null }, "invalid_request", /response_type is missing; send 'code'/],
    ["response_type=token", { response_type: "token" }, "unsupported_response_type", /'token' is not supported/],
    [
      "response_type=code id_token",
      { response_type: "code id_token" },
      "unsupported_response_type",
      /is not supported/,
    ],
    ["response_type=id_token of others", { response_type: "id_token" }, "unsupported_response_type", /send 'code'$/],
    ["a client without the grant", { client_id: "no-code" }, "unauthorized_client", /may not use authorization_code/],
    [
      "no scope that anybody defined",
      { scope: "nonsense more" },
      "invalid_scope",
      /no scope in 'nonsense more' is defined/,
    ],
    [
      "a scope that is not the client's",
      { client_id: "narrow", scope: "openid phone" },
      "invalid_scope",
      /may not ask for 'phone'/,
    ],
    [
      "PKCE with plain",
      { code_challenge: "x".repeat(43), code_challenge_method: "plain" },
      "invalid_request",
      /'plain' is refused: with plain, whoever sees/,
    ],
    [
      "PKCE with a method that nobody defined",
      { code_challenge: "x".repeat(43), code_challenge_method: "s256" },
      "invalid_request",
      /^code_challenge_method 's256' is not supported; use S256$/,
    ],
    [
      "PKCE without a method",
      { code_challenge: "x".repeat(43) },
      "invalid_request",
      /no code_challenge_method means plain/,
    ],
    ["a method without a challenge", { code_challenge_method: "S256" }, "invalid_request", /without code_challenge/],
    [
      "a challenge that is no hash",
      { code_challenge: "x=", code_challenge_method: "S256" },
      "invalid_request",
      /43 characters/,
    ],
    ["an unknown prompt", { prompt: "shout" }, "invalid_request", /prompt 'shout' is not supported/],
    ["prompt=create", { prompt: "create" }, "invalid_request", /prompt 'create' is not supported/],
    ["prompt=none with another", { prompt: "none login" }, "invalid_request", /cannot be joined/],
    ["max_age that is no number", { max_age: "soon" }, "invalid_request", /max_age 'soon'/],
    ["max_age below zero", { max_age: "-1" }, "invalid_request", /max_age '-1'/],
    ["an unknown response_mode", { response_mode: "web_message" }, "invalid_request", /response_mode 'web_message'/],
    ["a request object", { request: "eyJhbGciOiJub25lIn0.e30." }, "request_not_supported", /send plain parameters/],
    [
      "a foreign request_uri",
      { request_uri: "https://evil.test/r" },
      "request_uri_not_supported",
      /taken from the pushed authorization request endpoint only/,
    ],
    ["a forged id_token_hint", { id_token_hint: "eyJhbGciOiJub25lIn0.e30." }, "invalid_request", /id_token_hint/],
    ["a nonce that every code would keep", { nonce: "n".repeat(4097) }, "invalid_request", /nonce.* 4097 characters/],
    ["a resource that is no URI", { resource: "api" }, "invalid_target", /resource 'api'/],
    ["prompt=none and nobody signed in", { prompt: "none" }, "login_required", /prompt=none forbids/],
  ])("%s", async (_name, change, error, description) => {
    const { status, left, headers } = await open({ ...change, state: "s 1" });
    expect(status).toBe(303);
    expect(left?.href.startsWith(`${callback}?`)).toBe(true);
    const sent = Object.fromEntries(left?.searchParams ?? []);
    expect(sent).toEqual({
      error,
      error_description: expect.stringMatching(description) as string,
      state: "s 1",
      iss: idp.issuer,
    });
    // RFC 6749 4.1.2.1: printable ASCII without quote and backslash.
    expect(sent["error_description"]).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]*$/);
    expect(headers.get("cache-control")).toBe("no-store");
  });

  test.each(["scope", "response_type", "nonce", "prompt", "code_challenge", "made_up"])(
    "a parameter sent twice: %s",
    async (name) => {
      const { left } = await open({ [name]: "a", state: "s1" }, `&${name}=b`);
      expect(left?.searchParams.get("error")).toBe("invalid_request");
      expect(left?.searchParams.get("error_description")).toContain(`${name} was sent 2 times`);
      expect(left?.searchParams.get("state")).toBe("s1");
    },
  );

  test("what ASP.NET Core asks for unless told otherwise: the answer names its option", async () => {
    const { body } = await open({ response_type: "id_token", response_mode: "form_post" });
    expect(body).toContain("unsupported_response_type");
    expect(body).toMatch(/send &#39;code&#39; \(ASP\.NET Core: options\.ResponseType = &#39;code&#39;\)/);
  });

  test("a state with the replacement character of UTF-8 is returned", async () => {
    const { left } = await open({ state: "a\ufffdb", prompt: "none" });
    expect(left?.searchParams.get("state")).toBe("a\ufffdb");
  });

  test("state sent twice: it is not returned", async () => {
    const { left } = await open({ state: "a" }, "&state=b");
    expect(Object.fromEntries(left?.searchParams ?? [])).toMatchObject({ error: "invalid_request", iss: idp.issuer });
    expect(left?.searchParams.has("state")).toBe(false);
  });

  test("state not sent: it is not returned", async () => {
    const { left } = await open({ state: null, prompt: "none" });
    expect([...(left?.searchParams.keys() ?? [])]).toEqual(["error", "error_description", "iss"]);
  });

  test("nothing outside is fetched for a request: a foreign request_uri is refused at once", async () => {
    const asked: string[] = [];
    const outside = createServer((req, res) => {
      asked.push(req.url ?? "");
      res.end();
    });
    await new Promise<void>((resolve) => outside.listen(0, "127.0.0.1", resolve));
    const { port } = outside.address() as { port: number };
    await open({ request_uri: `http://127.0.0.1:${port}/r` });
    outside.close();
    expect(asked).toEqual([]);
  });
});

describe("what is accepted", () => {
  test.each<[name: string, change: Change]>([
    ["scope absent: openid", { scope: null }],
    ["names nobody defined beside others are ignored", { scope: "openid nonsense" }],
    ["no state, no nonce", { state: null, nonce: null }],
    ["unknown parameters", { made_up: "x" }],
    [
      "parameters of OpenID Connect that change nothing",
      { display: "popup", ui_locales: "tr en", claims_locales: "tr", acr_values: "1 2" },
    ],
    ["offline_access, whatever the client's scope list says", { scope: "openid offline_access" }],
    ["response_mode=query", { response_mode: "query" }],
    ["a parameter without a value counts as not sent", { prompt: "", max_age: "", response_mode: "", resource: "" }],
  ])("%s", async (_name, change) => {
    expect(await open(change)).toMatchObject({ status: 200, page: "login" });
  });

  test("ignored names are logged", async () => {
    await open({ scope: "openid nonsense more" });
    expect(notes.at(-1)).toBe('scope "nonsense more" is not defined: ignored');
  });

  test("no CORS here: another origin is not let in", async () => {
    const response = await fetch(idp.issuer + paths.authorize, {
      method: "OPTIONS",
      headers: { origin: "http://localhost:3000", "access-control-request-method": "GET" },
    });
    expect(response.status).toBe(405);
    expect(response.headers.get("access-control-allow-origin")).toBeNull();
  });
});
