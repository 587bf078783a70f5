import { describe, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import type { Idp } from "../../src/index.ts";

/** Responses as messages to the page of the client, which the SDKs of Auth0 and Okta ask for in a frame; and Keycloak's page in a frame. */

const callback = "http://localhost:3000/callback";
const authorize = { auth0: "/authorize", okta: "/oauth2/default/v1/authorize" } as const;

const start = (endpoints: "auth0" | "okta"): Promise<Idp> => serve({ settings: { endpoints, consent: "skip" } });

function address(idp: Idp, path: string, change: Readonly<Record<string, string>>): string {
  const parameters = { response_type: "code", client_id: "demo-app", redirect_uri: callback, state: "abc", ...change };
  return `${new URL(idp.issuer).origin}${path}?${new URLSearchParams(parameters).toString()}`;
}

/** What a page says, and to whom. */
function said(html: string): { readonly origin: string; readonly message: unknown } {
  const read = (name: string): string =>
    (new RegExp(`data-${name}="([^"]*)"`).exec(html)?.[1] ?? "").replaceAll("&#34;", '"').replaceAll("&quot;", '"');
  return { origin: read("origin"), message: JSON.parse(read("message")) };
}

describe.each([
  ["auth0", "web_message", (response: object): object => ({ type: "authorization_response", response })],
  ["okta", "okta_post_message", (response: object): object => response],
] as const)("%s: response_mode=%s", (vendor, mode, whole) => {
  test("posts the response to the origin of the redirect URI, which alone may frame it", async () => {
    const idp = await start(vendor);
    const request = { prompt: "none", response_mode: mode };
    const browser = new Browser(idp.issuer);
    await approve(browser, await browser.open(address(idp, authorize[vendor], {})));
    const visit = await browser.open(address(idp, authorize[vendor], request));
    expect(visit).toMatchObject({ status: 200, left: null });
    const code = expect.any(String) as string;
    expect(said(visit.body)).toEqual({
      origin: "http://localhost:3000",
      message: whole({ code, state: "abc", iss: idp.issuer }),
    });
    const csp = visit.headers.get("content-security-policy");
    expect(csp).toMatch(
      /^default-src 'none'; script-src 'sha256-[\w+/]{43}='; .*frame-ancestors http:\/\/localhost:3000$/,
    );
    expect(visit.headers.get("cache-control")).toBe("no-store");
  });

  test("posts a refusal too, with the client's values as text", async () => {
    const idp = await start(vendor);
    const state = `"><script>alert(1)</script>`;
    const response = await fetch(address(idp, authorize[vendor], { prompt: "none", response_mode: mode, state }));
    const html = await response.text();
    expect(said(html.replaceAll("&lt;", "<").replaceAll("&gt;", ">")).message).toMatchObject(
      whole(expect.objectContaining({ error: "login_required", state, iss: idp.issuer }) as object),
    );
    expect(html.match(/<script>/g)).toHaveLength(1);
  });

  test("posts nothing to an address that is not registered", async () => {
    const idp = await start(vendor);
    const request = { prompt: "none", response_mode: mode, redirect_uri: "http://evil.test/callback" };
    const response = await fetch(address(idp, authorize[vendor], request));
    expect([response.status, await response.text()]).toEqual([400, expect.not.stringContaining("postMessage")]);
  });

  test("a page with a form stays out of every frame", async () => {
    const idp = await start(vendor);
    const visit = await new Browser(idp.issuer).open(address(idp, authorize[vendor], { response_mode: mode }));
    expect(visit.page).toBe("login");
    expect(visit.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  });
});

test.each(["web_message", "okta_post_message"])("without the preset %s is not supported", async (mode) => {
  const idp = await serve();
  const response = await fetch(address(idp, "/api/v2/oauth/authorize", { response_mode: mode }), {
    redirect: "manual",
  });
  expect(response.headers.get("location")).toContain(`response_mode+%27${mode}%27+is+not+supported`);
});

test("keycloak: its SDK learns that a session cannot be watched in a frame", async () => {
  const idp = await serve({ settings: { endpoints: "keycloak" } });
  const response = await fetch(`${idp.issuer}/protocol/openid-connect/3p-cookies/step1.html`);
  expect(said(await response.text())).toEqual({ origin: "*", message: "unsupported" });
  expect(response.headers.get("content-security-policy")).toContain("frame-ancestors *");
});
