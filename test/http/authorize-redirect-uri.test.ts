import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { pkce } from "../helpers/client.ts";

/** Which redirect URI of a request is the registered one: letter by letter, raw (RFC 9700 2.1, RFC 8252 7.3). */

const idp = await serve();
const registered = "http://localhost:3000/callback";
const confidential = await register(idp, { redirect_uris: [registered, "com.example.app:/callback", "myapp://cb"] });
const native = await register(idp, {
  token_endpoint_auth_method: "none",
  redirect_uris: ["http://127.0.0.1:*/cb", "http://[::1]:*/cb", "http://localhost:4000/cb", "http://127.0.0.3/cb"],
});
const { verifier, challenge } = pkce();
const withPkce = { code_challenge: challenge, code_challenge_method: "S256" };

describe("an address that a URL parser would make the registered one is refused", () => {
  test.each([
    "http:localhost:3000/callback",
    "http:/localhost:3000/callback",
    "http:\\\\localhost:3000\\callback",
    "HTTP://localhost:3000/callback",
    "http://LOCALHOST:3000/callback",
    "http://localhost:03000/callback",
    "http://localhost:3000/x/../callback",
    "http://localhost:3000/./callback",
    "http://localhost:3000//callback",
    "http://localhost:3000/callback/",
    "http://localhost:3000/callback?",
    "http://localhost:3000/callback?a=1",
    "http://localhost:3000/callback#",
    "http://localhost:3000/callback#fragment",
    "http://localhost:3000/%63allback",
    "http://localhost:3000/Callback",
    "http://ｌocalhost:3000/callback",
    "http://user@localhost:3000/callback",
    "http://localhost:3000@evil.test/callback",
    "http://localhost.evil.test:3000/callback",
    "https://localhost:3000/callback",
    " http://localhost:3000/callback",
    "http://localhost:3000/callback\t",
    "http://localhost:3000/call\nback",
    "javascript:alert(1)",
    "*",
  ])("%j", async (redirectUri) => {
    const browser = new Browser(idp.issuer);
    const visit = await browser.open(confidential.url({ redirect_uri: redirectUri, prompt: "none" }));
    expect(visit).toMatchObject({ status: 400, page: "error", left: null });
  });
});

test.each([" $", "$ ", "$\n", "\u00a0$"])(
  "a space around it (%j) is shown, and so is what is registered",
  async (form) => {
    const other = "http://localhost:3000/other";
    const app = await register(idp, { redirect_uris: [registered, other] });
    const redirectUri = form.replace("$", registered);
    const { body } = await new Browser(idp.issuer).open(app.url({ redirect_uri: redirectUri }));
    const message = /id="error-message"[^>]*>([^<]*)</.exec(body)?.[1];
    expect(message).toBe(
      `redirect_uri &#34;${redirectUri}&#34; is not registered for client &#34;${app.credentials.client_id}&#34;; registered: ${registered}  ${other}`,
    );
  },
);

describe("what is registered", () => {
  test.each([registered, "com.example.app:/callback", "myapp://cb"])(
    "%s passes, and comes back unchanged",
    async (redirectUri) => {
      const browser = new Browser(idp.issuer);
      const { headers } = await browser.open(confidential.url({ redirect_uri: redirectUri, prompt: "none" }));
      expect(headers.get("location")?.startsWith(`${redirectUri}?error=login_required&`)).toBe(true);
    },
  );

  test("its own query stays, and the response is added to it", async () => {
    const own = await register(idp, { redirect_uris: ["https://app.example.test/cb?tenant=%C3%A9&x=a+b"] });
    const { headers } = await new Browser(idp.issuer).open(
      own.url({ redirect_uri: "https://app.example.test/cb?tenant=%C3%A9&x=a+b", prompt: "none" }),
    );
    expect(headers.get("location")).toMatch(/^https:\/\/app\.example\.test\/cb\?tenant=%C3%A9&x=a\+b&error=/);
  });
});

describe("loopback with port *, for public clients (RFC 8252 7.3)", () => {
  test.each([
    "http://127.0.0.1:53682/cb",
    "http://127.0.0.1:1/cb",
    "http://127.0.0.1/cb",
    "http://[::1]:65535/cb",
    "http://127.0.0.3:53682/cb",
    "http://127.0.0.3/cb",
  ])("%s passes, and must be repeated exactly at the token endpoint", async (redirectUri) => {
    const { back, code } = await native.signIn({ redirect_uri: redirectUri, prompt: "consent", ...withPkce });
    expect(back.href.startsWith(`${redirectUri}?`)).toBe(true);
    const other = await native.exchange(code, { redirect_uri: "http://127.0.0.1:9/cb", code_verifier: verifier });
    expect(other.json.error_description).toMatch(/differs from the one in the authorization request/);
    expect((await native.exchange(code, { redirect_uri: redirectUri, code_verifier: verifier })).status).toBe(200);
  });

  test.each([
    "http://127.0.0.1:*/cb",
    "http://127.0.0.1:0/cb",
    "http://127.0.0.1:65536/cb",
    "http://127.0.0.1:080/cb",
    "http://127.0.0.1:80 /cb",
    "http://127.0.0.1:80@evil.test/cb",
    "http://127.0.0.1.evil.test:80/cb",
    "http://127.0.0.1:80/other",
    "http://127.0.0.1:80/x/cb",
    "http://127.0.0.2:80/cb",
    "http://localhost:4001/cb",
    "https://127.0.0.1:80/cb",
  ])("%s does not pass", async (redirectUri) => {
    const visit = await new Browser(idp.issuer).open(native.url({ redirect_uri: redirectUri, ...withPkce }));
    expect(visit).toMatchObject({ status: 400, page: "error", left: null });
  });
});

describe("the settings that widen what may be registered", () => {
  const open = { redirect_uris: ["http://127.0.0.1:*/cb"] };

  test("any_loopback_port: an open port works for a confidential client too", async () => {
    const lenient = await serve({ settings: { any_loopback_port: true } });
    const app = await register(lenient, open);
    const { code } = await app.signIn({ redirect_uri: "http://127.0.0.1:10000/cb" });
    expect((await app.exchange(code, { redirect_uri: "http://127.0.0.1:10000/cb" })).status).toBe(200);
  });

  test("http_redirect_hosts: a name of a container network, in every kind of address", async () => {
    const lenient = await serve({ settings: { http_redirect_hosts: ["app"] } });
    const app = await register(lenient, {
      redirect_uris: ["http://app:3000/cb"],
      post_logout_redirect_uris: ["http://app:3000/"],
      backchannel_logout_uri: "http://app:3000/logout",
      allowed_origins: ["http://app:5173"],
    });
    const { code } = await app.signIn({ redirect_uri: "http://app:3000/cb" });
    expect((await app.exchange(code, { redirect_uri: "http://app:3000/cb" })).status).toBe(200);
    await expect(register(lenient, { redirect_uris: ["http://web:3000/cb"] })).rejects.toMatchObject({
      code: "invalid",
      message: expect.stringContaining('list "web" in the setting http_redirect_hosts') as string,
    });
  });

  test("they may come with the clients that need them, and go with them", async () => {
    const settings = { http_redirect_hosts: ["app"], any_loopback_port: true };
    const clients = [
      { client_id: "app", client_secret: "s".repeat(32), redirect_uris: ["http://app/cb", ...open.redirect_uris] },
    ];
    const lenient = await serve({ fixtures: { settings, clients } });
    await lenient.call("clients.edit", { client_id: "app", client_name: "App" });
    const exported = await lenient.call("export", {});
    const other = await serve();
    await other.call("import", exported);
    expect(await other.call("clients.show", { client_id: "app" })).toMatchObject({ client_name: "App" });
    await lenient.call("reset", { fixtures: { clients: [] } });
    await expect(lenient.call("seed", { clients })).rejects.toMatchObject({ code: "invalid" });
  });

  test("http_redirect_hosts does not apply to a client that registers itself", async () => {
    const lenient = await serve({ dynamicRegistration: true, settings: { http_redirect_hosts: ["app"] } });
    const response = await fetch(`${lenient.issuer}/api/v2/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["http://app/cb"] }),
    });
    expect([response.status, await response.json()]).toMatchObject([400, { error: "invalid_redirect_uri" }]);
  });
});

describe("what cannot be registered", () => {
  test.each([
    ["a fragment", "http://localhost:3000/cb#x"],
    ["user info", "http://user:pw@localhost:3000/cb"],
    ["http on a host that is not loopback", "http://app.example.test/cb"],
    ["javascript", "javascript:alert(1)"],
    ["data", "data:text/html,x"],
    ["a wildcard host", "https://*.example.test/cb"],
    ["a path alone", "/cb"],
    ["an open port for a confidential client", "http://127.0.0.1:*/cb"],
    ["an open port with https", "https://127.0.0.1:*/cb"],
  ])("%s", async (_name, uri) => {
    await expect(register(idp, { redirect_uris: [uri] })).rejects.toMatchObject({ code: "invalid" });
  });
});
