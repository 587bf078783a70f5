import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { register } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import { idpHere, type Begun } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";
import { rawRequest } from "../helpers/raw-http.ts";
import { failedOf, loginCommand } from "../helpers/login-command.ts";

/** `idp login` with a person in a browser. */

const { begin, idp, inHints, login, target } = await loginCommand();

const addressIn = async ({ told }: Begun) => (await told(/at this address:\n {2}(\S+)\n/))[1] ?? "";
const redirectUriIn = async ({ told }: Begun) => (await told(/Waiting at (\S+?)(?: for|\. Open) /))[1] ?? "";

describe("a person in a browser", () => {
  test("signs in: the page shows who signed in, and nothing listens any more", async () => {
    const begun = begin("--no-browser");
    const browser = new Browser(idp.issuer);
    const { left } = await approve(browser, await browser.open(await addressIn(begun)));
    const redirectUri = await redirectUriIn(begun);
    expect(redirectUri).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(left?.href.startsWith(`${redirectUri}?`)).toBe(true);
    const page = await fetch(left ?? "");
    const text = await page.text();
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(text).toContain("You can close this tab");
    expect(text).toContain("<dd>alice@example.com</dd>");
    expect(text).not.toContain(left?.searchParams.get("code"));
    const { code, stdout, stderr } = await begun.ended;
    expect(code, stdout).toBe(0);
    expect(stdout).toContain("Signed in as alice (Alice Adams)\nscope   openid profile email\n");
    expect(stderr).toContain("/callback. Open the address within 60 s. Ctrl+C stops.\n");
    await expect(fetch(left ?? "")).rejects.toThrow();
  });

  test("denies: the page says so", async () => {
    const begun = begin("--no-browser --login-hint alice --prompt consent --json");
    const browser = new Browser(idp.issuer);
    const consent = await browser.press(await browser.open(await addressIn(begun)), "login-as-alice");
    const { left } = await browser.press(consent, "consent-deny");
    expect(await (await fetch(left ?? "")).text()).toContain("The sign-in was refused. The terminal says why.");
    expect(await begun.ended).toMatchObject({ code: 6, stderr: expect.stringContaining("login denied") });
  });

  test("form_post comes back as a form", async () => {
    const begun = begin("--no-browser --response-mode form_post --json");
    const browser = new Browser(idp.issuer);
    const page = await approve(browser, await browser.open(await addressIn(begun)));
    const fields = [...page.body.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]);
    const body = new URLSearchParams(fields);
    expect([...body.keys()]).toEqual(["code", "state", "iss"]);
    const posted = await fetch(await redirectUriIn(begun), { method: "POST", body });
    expect(posted.status).toBe(200);
    expect((await begun.ended).code).toBe(0);
  });

  test("a timeout without a response", async () => {
    const { code, stdout } = await login("--no-browser --timeout 1 --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["response"]]);
    expect(stdout).toContain("no response came back from the provider within 1 s");
  });

  test("--quiet prints nothing but the address that has to be opened", async () => {
    const begun = begin("--no-browser --quiet --timeout 1");
    const { stderr } = await begun.ended;
    expect(stderr).toMatch(/^ {2}http\S+\nError: login failed: 1 of 3 checks failed\n$/);
  });

  test("other requests are refused, and the login goes on", async () => {
    const begun = begin("--no-browser --json");
    const redirectUri = await redirectUriIn(begun);
    const { port, origin } = new URL(redirectUri);
    const status = async (path: string, init: RequestInit = {}) => (await fetch(origin + path, init)).status;
    expect(await status("/")).toBe(404);
    expect(await status("/callback/?code=x&state=y")).toBe(404);
    expect(await status("/favicon.ico")).toBe(404);
    expect(await status("/%63allback?code=x")).toBe(404);
    expect(await status("/callback", { method: "PUT" })).toBe(405);
    expect(await status("/callback", { method: "POST", body: "{}" })).toBe(405);
    const rebound = "GET /callback?code=x HTTP/1.1\r\nHost: attacker.test\r\n\r\n";
    expect((await rawRequest(Number(port), rebound)).status).toBe(421);
    const browser = new Browser(idp.issuer);
    const { left } = await approve(browser, await browser.open(await addressIn(begun)));
    await fetch(left ?? "");
    expect((await begun.ended).code).toBe(0);
  });

  test("a response that somebody else sends fails the check of state, and its code is not used", async () => {
    const begun = begin("--no-browser --json");
    await fetch(`${await redirectUriIn(begun)}?code=stolen&state=guessed&iss=${encodeURIComponent(idp.issuer)}`);
    const { code, stdout } = await begun.ended;
    expect([code, failedOf(stdout)]).toEqual([6, ["response.state"]]);
    expect(stdout).not.toContain('"token"');
  });
});

describe("where it listens", () => {
  test("a public client without the redirect URI gets the exact command that fixes it", async () => {
    const { credentials } = await register(idp, { token_endpoint_auth_method: "none" });
    const { client_id } = credentials;
    const { code, stderr } = await login(`--client ${client_id}`);
    expect(code).toBe(6);
    const [, command = ""] = /Allow it: idp (clients edit .*)\n/.exec(stderr) ?? [];
    expect(command).toBe(`clients edit ${client_id} --add-redirect-uri 'http://127.0.0.1:*/callback' ${inHints}`);
    await idpHere([...command.replaceAll("'", "").split(" "), ...target]);
    const { code: after, stdout } = await login(`--client ${client_id} --no-browser --timeout 1 --json`);
    expect([after, failedOf(stdout)]).toEqual([6, ["response"]]);
    expect(stdout).toContain("no response came back");
  });

  test("a client with a secret has to name the port, which is then used", async () => {
    const port = await freePort();
    const app = await register(idp);
    const { client_id } = app.credentials;
    const { stderr } = await login(`--client ${client_id} --redirect-port ${port}`);
    const [, command = ""] = /Allow it: idp (clients edit .*)\n/.exec(stderr) ?? [];
    expect(command).toContain(`--add-redirect-uri http://127.0.0.1:${port}/callback`);
    await idpHere([...command.split(" "), ...target]);
    const begun = begin(`--client ${client_id} --no-browser --timeout 1 --json`);
    expect(await redirectUriIn(begun)).toBe(`http://127.0.0.1:${port}/callback`);
    await begun.ended;
  });

  test("a port that is taken: exit 4", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const { code, stderr } = await login(`--redirect-port ${port}`);
    server.close();
    expect(code).toBe(4);
    expect(stderr).toContain(
      `port ${port} of 127.0.0.1 is taken\n  Use another one: idp login --redirect-port PORT ${inHints}\n`,
    );
  });
});
