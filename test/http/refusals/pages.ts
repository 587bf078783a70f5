import { rawRequest } from "../../helpers/raw-http.ts";
import type { Cases, World } from "./world.ts";

/** Refusals of pages, of the logout and the registration endpoint, and of HTTP itself. */

export const pageCases = (world: World): Cases => {
  const { app, browser, get, idp, post, tokens } = world;
  const register = (body: unknown) =>
    fetch(`${idp.issuer}/api/v2/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const logout = (parameters: Record<string, string>) =>
    get(`/api/v2/oauth/logout?${new URLSearchParams(parameters).toString()}`);
  const login = async (username: string, password: string) => {
    const visitor = browser();
    return visitor.press(await visitor.open(app.url()), "login-submit", { username, password });
  };
  return {
    "logout: address not registered": () =>
      logout({ client_id: "app", post_logout_redirect_uri: "http://localhost:3000/by" }),
    "logout: another client": async () => logout({ client_id: "spa", id_token_hint: (await tokens()).id_token }),
    "logout: hint": () => logout({ id_token_hint: "x" }),
    "register: not an object": () => register([]),
    "register: redirect URI": () => register({ redirect_uris: ["http://example.com/cb"] }),
    "register: metadata": () => register({ redirect_uris: ["https://a.test/cb"], token_endpoint_auth_method: "magic" }),
    "register: HS256 without a secret": () =>
      register({
        redirect_uris: ["https://a.test/cb"],
        token_endpoint_auth_method: "none",
        id_token_signed_response_alg: "HS256",
      }),
    "register: no token": () => get("/api/v2/oauth/register/app"),
    "register: wrong token": () => get("/api/v2/oauth/register/app", { authorization: "Bearer x" }),
    "login: unknown user": () => login("nobody", "x"),
    "login: wrong password": () => login("nora", "x"),
    "login: no password": () => login("sue", "x"),
    "login: suspended": async () => {
      const visitor = browser();
      return visitor.press(await visitor.open(app.url({ login_hint: "carol" })), "login-as-sue");
    },
    "factor: wrong code": async () => {
      const visitor = browser();
      const visit = await visitor.open(app.url({ acr_values: "urn:mfa" }));
      const next = await visitor.press(visit, "login-submit", { username: "erin", password: "erin" });
      return visitor.press(next, "factor-submit", { otp: "000000" });
    },
    "page: sign-in unknown": () => get("/interaction/x/login", { accept: "text/html" }),
    "page: other browser": async () => {
      const visit = await browser().open(app.url());
      return browser().open(visit.url);
    },
    "page: forged form": async () => {
      const visitor = browser();
      return visitor.press(await visitor.open(app.url()), "login-submit", {
        csrf: "x",
        username: "nora",
        password: "nora",
      });
    },
    "page: finished": async () => {
      const visitor = browser();
      const visit = await visitor.open(app.url({ prompt: "consent" }));
      const asked = await visitor.press(visit, "login-as-alice");
      await visitor.press(asked, "consent-allow");
      await idp.call("requests.clear", {});
      return visitor.open(asked.url);
    },
    "device page: unknown code": async () => {
      const { browser: person } = await app.signIn();
      return person.open("/device?user_code=BBBB-BBBB");
    },
    "http: unknown path": () => get("/api/v2/oauth/tokens"),
    "http: unknown issuer": () => get("/i/shop/api/v2/oauth/token"),
    "http: method": () => get("/api/v2/oauth/token"),
    "http: media type": () => post("/api/v2/oauth/token", {}, { "content-type": "text/plain" }),
    "http: too large": () => post("/api/v2/oauth/token", { x: "x".repeat(110_000) }),
    "http: no JSON": () =>
      fetch(`${idp.issuer}/api/v2/oauth/token`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{",
      }),
    "http: foreign host": () =>
      rawRequest(
        Number(new URL(idp.issuer).port),
        "GET /api/v2/oauth/jwks HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
      ),
    "http: two hosts": () =>
      rawRequest(
        Number(new URL(idp.issuer).port),
        "GET /api/v2/oauth/jwks HTTP/1.1\r\nHost: localhost\r\nAuthorization: a\r\nAuthorization: b\r\nConnection: close\r\n\r\n",
      ),
  };
};
