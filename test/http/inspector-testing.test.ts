import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { userinfo } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector } from "../helpers/inspector.ts";

/** The tab of the inspector for testing: the clock, faults, expiry, snapshots and the reset. */

const idp = await serve({ settings: { try_it: true } });
const { browser, at } = await openInspector(idp);
const textOf = ({ body }: { readonly body: string }): string => unescapeHtml(body.replace(/<[^>]*>/g, " "));

describe("clock and faults", () => {
  test("the clock is advanced, set, frozen and reset", async () => {
    const page = await browser.open(at("testing"));
    const ahead = await browser.press(page, "advance-clock", { value: "31m" });
    expect(textOf(ahead)).toMatch(/31 minutes ahead.*idp clock reset/s);
    expect(textOf(ahead)).toContain("The clock was moved by 31 minutes.");
    expect(textOf(ahead)).toContain("idp clock advance 31m");
    const frozen = await browser.press(ahead, "freeze-clock");
    const stopped = await idp.call("clock.show", {});
    expect(stopped.frozen).toBe(true);
    // A frozen clock falls behind the real one.
    expect(stopped.offset).toBeLessThanOrEqual(1860);
    expect(stopped.offset).toBeGreaterThan(1860 - 60);
    await browser.press(frozen, "reset-clock-clock");
    expect(await idp.call("clock.show", {})).toMatchObject({ offset: 0, frozen: false });
    const set = await browser.press(page, "set-clock-clock", { value: "2035-01-01T00:00:00Z" });
    expect(textOf(set)).toContain("idp clock set 2035-01-01T00:00:00Z");
    expect(textOf(set)).toMatch(/The clock was set to (1 Jan 2035|31 Dec 2034), \d\d:\d\d \S+\./);
    expect((await idp.clock.show()).now).toMatch(/^2035-01-01T00:00:/);
    await browser.press(set, "reset-clock-clock");
    const refused = await browser.press(page, "advance-clock", { value: "soon" });
    expect([refused.status, refused.body.includes('id="inspector-refused"')]).toEqual([422, true]);
  });

  test("a fault is added as the command adds it, taken, removed and cleared", async () => {
    const page = await browser.open(at("testing"));
    const fields = {
      endpoint: "token",
      status: "503",
      error: "server_error",
      times: "7",
      client: "demo-app",
      after: "1",
    };
    const added = await browser.press(page, "fault-add", fields);
    expect(textOf(added)).toContain(
      "idp faults add token --client demo-app --times 7 --status 503 --error server_error --after",
    );
    const [fault] = await idp.call("faults.list", {});
    expect(fault).toMatchObject({ endpoint: "token", status: 503, error: "server_error", remaining: 7, after: true });
    const withBody = {
      ...{ endpoint: "userinfo", method: "POST", skip: "2", body: "<p>\r\nSorry" },
      ...{ content_type: "text/html", header: "Retry-After: 2\r\nX-From: proxy" },
    };
    const more = await browser.press(added, "fault-add", withBody);
    expect(textOf(more)).toContain(
      "idp faults add userinfo --method POST --skip 2 --header VALUE --header VALUE2 --body VALUE3",
    );
    expect(textOf(more)).toContain("VALUE is Retry-After: 2. VALUE2 is X-From: proxy. VALUE3 is");
    const [, second] = await idp.call("faults.list", {});
    expect(second).toMatchObject({
      ...{ endpoint: "userinfo", method: "POST", skip: 2, body: "<p>\nSorry", content_type: "text/html" },
      header: { "Retry-After": "2", "X-From": "proxy" },
    });
    await idp.faults.remove(second?.id ?? "");
    const described = await browser.press(added, "fault-add", {
      ...{ endpoint: "token", status: "400", error: "invalid_grant", description: "It is over" },
    });
    expect(textOf(described)).toContain("--error invalid_grant --description VALUE");
    await idp.faults.remove((await idp.faults.list()).at(-1)?.id ?? "");
    const removed = await browser.press(added, `remove-fault-${fault?.id ?? ""}`);
    expect(await idp.call("faults.list", {})).toEqual([]);
    const dropping = await browser.press(removed, "fault-add", { endpoint: "any", drop: "1", always: "1" });
    expect(textOf(dropping)).toMatch(/idp faults add any --always --drop\s/);
    await browser.press(dropping, "clear-faults-faults");
    expect(await idp.call("faults.list", {})).toEqual([]);
    const refused = await browser.press(page, "fault-add", { flaw: "nonce-wrong", endpoint: "jwks" });
    expect([refused.status, refused.state]).toEqual([422, "testing"]);
    const header = { endpoint: "token", status: "503", header: "Retry After 2" };
    expect((await browser.press(page, "fault-add", header)).body).toContain("is not a header that can be set");
  });
});

test("a refused fault form keeps what was typed, and marks the field; a corrected one adds what it says", async () => {
  const page = await browser.open(at("testing"));
  const refused = await browser.press(page, "fault-add", {
    ...{ endpoint: "token", status: "503", header: "Retry After 2", after: "1", client: "demo-app" },
  });
  expect(refused.status).toBe(422);
  expect(refused.body).toMatch(/<details id="inspector-other-fault"[^>]* open>/);
  expect(refused.body).toMatch(/<textarea id="fault-header"[^>]*aria-invalid="true"[^>]*>Retry After 2</);
  expect(refused.body.match(/is not a header that can be set/g)).toHaveLength(2);
  expect(refused.body).toContain('<option value="token" selected>');
  expect(refused.body).toContain('<option value="demo-app" selected>');
  const corrected = { endpoint: "token", client: "demo-app", header: "Retry-After: 2" };
  const added = await browser.press(refused, "fault-add", corrected);
  expect(added.status).toBe(200);
  const [fault] = await idp.call("faults.list", {});
  expect(fault).toMatchObject({ endpoint: "token", status: 503, after: true, client: "demo-app" });
  await idp.call("faults.clear", {});
});

test.each([
  ["token-503", { endpoint: "token", status: 503, remaining: 1 }],
  ["userinfo-slow", { endpoint: "userinfo", delay: "5s" }],
  ["nonce-wrong", { endpoint: "token", flaw: "nonce-wrong" }],
  ["signature-wrong", { endpoint: "token", flaw: "signature-wrong" }],
  ["state-wrong", { endpoint: "authorize", flaw: "state-wrong" }],
  ["lost-tokens", { endpoint: "token", grant_type: "authorization_code", drop: true, after: true }],
  ["keys-rotated", { endpoint: "jwks", flaw: "keys-rotated" }],
])("the preset %s is one click", async (name, expected) => {
  const added = await browser.press(await browser.open(at("testing")), `preset-${name}`);
  expect([added.status, await idp.call("faults.list", {})]).toMatchObject([200, [expected]]);
  await idp.call("faults.clear", {});
});

test("what was issued expires, snapshots are saved and restored, and everything is reset", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  const app = await register(own);
  const { access_token: token } = await app.tokens();
  const page = await inside.browser.open(inside.at("testing"));
  const saved = await inside.browser.press(page, "save-snapshot-new", { value: "before" });
  expect(textOf(saved)).toContain("idp snapshots save before");
  const expired = await inside.browser.press(saved, "expire-all", { user: "alice", kind: "access" });
  expect(textOf(expired)).toContain("idp expire --user alice --access");
  expect((await userinfo(own, token)).json).toMatchObject({ error: "invalid_token" });
  await own.call("users.suspend", { username: "bob" });
  const asked = await inside.browser.press(expired, "restore-snapshot-before");
  expect([asked.state, textOf(asked)]).toEqual(["confirm", expect.stringContaining("Active grants now")]);
  const restored = await inside.browser.press(asked, "inspector-sure");
  expect(textOf(restored)).toContain("idp snapshots restore before");
  expect(await own.call("users.show", { username: "bob" })).toMatchObject({ status: "active" });
  await own.call("users.suspend", { username: "bob" });
  const reset = await inside.browser.press(await inside.browser.press(restored, "reset-all"), "inspector-sure");
  expect(textOf(reset)).toContain("idp reset --yes");
  expect(await own.call("users.show", { username: "bob" })).toMatchObject({ status: "active" });
});
