import { describe, expect, test } from "vitest";
import type { ControlToken } from "../../src/core/records/operators/roles.ts";
import { Browser } from "../helpers/browser.ts";
import { call, startWithTokens, tokenOf, tokens } from "../helpers/control-tokens.ts";
import { csrfOf } from "../helpers/inspector.ts";

/** The inspector that a control token opens shows and does what the token's role may, and nothing else. */

describe("the inspector of a tester", async () => {
  let list: readonly ControlToken[] = tokens;
  const server = await startWithTokens(() => list);
  const { issuer } = server.issuer.ctx;

  /** A browser in the inspector that a token opens. */
  async function enter(token: string) {
    const { json } = await call(server, token, "POST", "/inspector/open", {});
    const { url } = json as { url: string };
    const browser = new Browser(issuer);
    await browser.open(url);
    const [place = ""] = url.split("?");
    return { browser, url, at: (path = "") => place + path };
  }

  test("shows a reader no section and nothing to unfold that is empty", async () => {
    const { browser, at } = await enter(tokenOf("eyes"));
    expect((await browser.open(at("testing"))).body).not.toContain('data-testid="inspector-expire"');
    for (const tab of ["clients", "users", "grants", "tokens", "testing"]) {
      expect((await browser.open(at(tab))).body).not.toMatch(/<\/summary>\s*<\/details>/);
    }
  });

  test("is at a path of its own, does not show what the role may not do, and refuses it", async () => {
    const { browser, at } = await enter(tokenOf("qa"));
    const admins = await enter(server.adminToken);
    expect(at()).not.toBe(admins.at());
    const testing = await browser.open(at("testing"));
    expect(testing.body).toContain('data-testid="inspector-add-fault"');
    expect(testing.body).not.toContain('data-testid="inspector-reset"');
    expect((await browser.open(at("users"))).body).not.toContain('data-testid="add-user-new"');
    expect((await browser.open(at("clients"))).body).not.toContain("Add a redirect URI");
    expect((await admins.browser.open(admins.at("testing"))).body).toContain('data-testid="inspector-reset"');
    const csrf = csrfOf(testing);
    const { origin } = new URL(issuer);
    const post = (form: Record<string, string>): RequestInit => ({
      method: "POST",
      headers: { origin },
      body: new URLSearchParams(form),
      redirect: "manual",
    });
    for (const [change, target, value] of [
      ["reset", "all", ""],
      ["add-redirect-uri", "demo-app", "https://evil.test/cb"],
      ["edit-user", "alice", ""],
      ["remove-user", "alice", ""],
    ]) {
      const form = { csrf, change: change ?? "", target: target ?? "", value: value ?? "" };
      const { status } = await browser.request(at("change"), post(form));
      expect([change, status]).toEqual([change, 403]);
    }
    expect((await call(server, server.adminToken, "GET", "/clients/demo-app")).text).not.toContain("evil.test");
    const { status } = await browser.request(at("change"), post({ csrf, change: "suspend", target: "bob", value: "" }));
    expect(status).toBe(303);
    expect((await call(server, tokenOf("eyes"), "GET", "/acts")).text).toContain(
      '"by":"qa","role":"tester","command":"idp users suspend bob"',
    );
  });

  test("proposes no fix that the role may not make, and says who may", async () => {
    const query = { response_type: "code", client_id: "demo-app", redirect_uri: "http://localhost:3000/other" };
    await fetch(`${issuer}/api/v2/oauth/authorize?${new URLSearchParams(query).toString()}`);
    const { browser, at } = await enter(tokenOf("qa"));
    const admins = await enter(server.adminToken);
    const href = /href="([^"]*sign-ins\/[^"]+)"/;
    const [, path = ""] = href.exec((await browser.open(at())).body) ?? [];
    const { body } = await browser.open(path);
    expect(body).toContain("Ask an admin of this server: clients edit needs that role");
    expect(body).not.toContain("--add-redirect-uri");
    const [, own = ""] = href.exec((await admins.browser.open(admins.at())).body) ?? [];
    expect((await admins.browser.open(own)).body).toContain("--add-redirect-uri");
  });

  test("a reader makes no token by any form, and no question tells a tester what only an admin may read", async () => {
    const reader = await enter(tokenOf("eyes"));
    const page = await reader.browser.open(reader.at("tokens"));
    expect(page.body).not.toContain('data-testid="token-make"');
    const headers = { origin: new URL(issuer).origin };
    const made = await reader.browser.request(reader.at("tokens"), {
      method: "POST",
      headers,
      body: new URLSearchParams({ csrf: csrfOf(page), change: "make-token", user: "alice", client: "demo-app" }),
    });
    expect([made.status, (await made.text()).includes('data-testid="made-token"')]).toEqual([403, false]);
    const { browser, at } = await enter(tokenOf("qa"));
    const csrf = csrfOf(await browser.open(at("users")));
    for (const change of ["reset", "remove-user"]) {
      for (const answer of [{}, { sure: "1" }]) {
        const body = new URLSearchParams({ csrf, change, target: "alice", ...answer });
        const refused = await browser.request(at("change"), { method: "POST", headers, body });
        expect([change, refused.status, (await refused.text()).includes("inspector-sure")]).toEqual([
          change,
          403,
          false,
        ]);
      }
    }
    expect((await call(server, server.adminToken, "GET", "/users/alice")).status).toBe(200);
  });

  test("its key opens no other role's, and its cookie neither", async () => {
    const { json } = await call(server, tokenOf("qa"), "POST", "/inspector/open", {});
    const key = new URL((json as { url: string }).url).searchParams.get("key") ?? "";
    const admins = await enter(server.adminToken);
    const browser = new Browser(issuer);
    expect((await browser.open(`${admins.at()}?key=${key}`)).status).toBe(403);
  });

  test("ends with its token", async () => {
    const { browser, at } = await enter(tokenOf("other"));
    expect((await browser.open(at("users"))).status).toBe(200);
    list = tokens.filter(({ name }) => name !== "other");
    expect((await browser.open(at("users"))).status).toBe(403);
  });
});
