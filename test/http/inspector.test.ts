import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { userinfo } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector } from "../helpers/inspector.ts";
import type { FixtureSource } from "../../src/index.ts";

/** The inspector: what a person with its cookie sees and does. test/attacks/inspector.test.ts has the requests without one. */

const idp = await serve({ settings: { try_it: true } });
const { browser, at } = await openInspector(idp);
/** Where a link leads. */
const hrefOf = ({ body }: Visit, id: string): string =>
  unescapeHtml(new RegExp(`id="${id}"[^>]* href="([^"]+)"`).exec(body)?.[1] ?? "");
/** What a field holds. */
const valueOf = ({ body }: Visit, id: string): string =>
  unescapeHtml(
    new RegExp(`id="${id}"[^>]*? value="([^"]*)"|id="${id}"[^>]*>([^<]*)<`).exec(body)?.slice(1).join("") ?? "",
  );
const textOf = ({ body }: { readonly body: string }): string => unescapeHtml(body.replace(/<[^>]*>/g, " "));

test("a key leads to the first tab, by an address without it", async () => {
  const { first } = await openInspector(idp);
  expect([first.status, first.page]).toEqual([200, "inspector"]);
  expect(first.url).not.toContain("key");
});

test.each(["/_idp", "/_idp/", "/_idp/users", `/_idp/${"A".repeat(22)}/`])(
  "%s is not the inspector: 404, and the command that opens it",
  async (path) => {
    const { status, page, body } = await browser.open(path);
    expect([status, page]).toEqual([404, "error"]);
    expect(unescapeHtml(/id="error-fix"[^>]*>(.*?)<\/pre>/s.exec(body)?.[1]?.replace(/<[^>]*>/g, "") ?? "")).toBe(
      "idp open",
    );
    const json = await fetch(idp.issuer + path);
    expect([json.status, await json.json()]).toMatchObject([404, { error: "not_found" }]);
  },
);

describe("users", () => {
  test("are suspended, restored and banned, and each page says which command does the same", async () => {
    const user = await enroll(idp);
    const list = await browser.open(at(`users?q=${user}`));
    expect(textOf(list)).toContain(`idp users suspend ${user}`);
    const suspended = await browser.press(list, `suspend-${user}`);
    expect([suspended.status, suspended.state]).toEqual([200, "users"]);
    expect(textOf(suspended)).toMatch(new RegExp(`${user} is suspended\\..*idp users suspend ${user}`, "s"));
    expect(await idp.call("users.show", { username: user })).toMatchObject({ status: "suspended" });
    // The search stays.
    expect(suspended.body).not.toContain("row-user-alice");
    const restored = await browser.press(suspended, `restore-${user}`);
    expect(await idp.call("users.show", { username: user })).toMatchObject({ status: "active" });
    await browser.press(await browser.press(restored, `ban-${user}`), "inspector-sure");
    expect(await idp.call("users.show", { username: user })).toMatchObject({ status: "banned" });
  });

  test("each has a link that signs in as that user, in any browser", async () => {
    const user = await enroll(idp, { displayName: "Link Me" });
    const list = await browser.open(at(`users?q=${user}`));
    const href = new RegExp(`id="sign-in-${user}"[^>]* href="([^"]+)"`).exec(list.body)?.[1] ?? "";
    const other = new Browser(idp.issuer);
    const login = await other.press(await other.open(unescapeHtml(href)), "home-try");
    expect([login.page, login.state]).toEqual(["login", "hint"]);
    const done = await approve(other, login, user);
    expect([done.page, done.body.includes("Link Me")]).toEqual(["try-it", true]);
  });

  test("are listed in pages of a hundred", async () => {
    const many = await serve();
    await many.call("seed", { users: Array.from({ length: 150 }, (_, at) => ({ username: `many-${at}` })) });
    const inside = await openInspector(many);
    const list = await inside.browser.open(inside.at("users?q=many"));
    expect(list.body.match(/ id="row-user-/g)).toHaveLength(100);
    expect(textOf(list)).toMatch(/1\s+to\s+100\s+of\s+150/);
    const next = await inside.browser.open(new URL(hrefOf(list, "inspector-next"), list.url).href);
    expect(next.body.match(/ id="row-user-/g)).toHaveLength(50);
    expect(next.body).toContain("row-user-many-149");
    expect(next.body).not.toContain("inspector-next");
  });
});

test.each<[name: string, fixtures: FixtureSource[], later: string]>([
  ["the built-in demo", [], "A reset undoes this change."],
  ["text without a file", [{ name: "inline", text: "{}" }], "A reset undoes this change."],
  ["one file", [{ name: "team.yaml", text: "{}" }], "This change is not in team.yaml yet, and a reset undoes it."],
  [
    "two files",
    ["a.yaml", "b.json"].map((name) => ({ name, text: "{}" })),
    "This change is not in a.yaml, b.json yet, and a reset undoes it.",
  ],
])("with %s, the page of a new user says what a reset does", async (_name, fixtures, later) => {
  const served = await serve({ ...(fixtures.length > 0 && { fixtures }) });
  const inside = await openInspector(served);
  const users = await inside.browser.open(inside.at("users"));
  const added = await inside.browser.press(users, "add-user-new", { username: "erin" });
  expect(textOf(added)).toContain(`The user is added. ${later}`);
  const suspended = await inside.browser.press(added, "suspend-erin");
  expect(textOf(suspended)).not.toContain("A reset");
});

describe("clients", () => {
  test("get one more redirect URI, with which the next request passes", async () => {
    const app = await register(idp);
    const id = app.credentials.client_id;
    const uri = "http://localhost:3999/callback?x=1";
    const list = await browser.open(at("clients"));
    const done = await browser.press(list, `add-redirect-uri-${id}`, { value: ` ${uri} ` });
    expect(textOf(done)).toContain(`idp clients edit ${id} --add-redirect-uri VALUE`);
    expect(textOf(done)).toContain(`VALUE is ${uri}`);
    expect((await new Browser(idp.issuer).open(app.url({ redirect_uri: uri }))).page).toBe("login");
    const again = await browser.press(done, `add-redirect-uri-${id}`, { value: uri });
    expect([again.status, (await idp.call("clients.show", { client_id: id })).redirect_uris.length]).toEqual([200, 2]);
  });

  test("an invalid URI is refused on the same page, with every problem", async () => {
    const { client_id: id } = (await register(idp)).credentials;
    const list = await browser.open(at(`clients?q=${id}`));
    const refused = await browser.press(list, `add-redirect-uri-${id}`, { value: "/callback" });
    expect([refused.status, refused.page, refused.state]).toEqual([422, "inspector", "clients"]);
    expect(refused.body).toContain('id="inspector-refused"');
    expect(textOf(refused)).toContain("redirect_uris[1]");
    expect(refused.body).not.toContain("row-client-demo-app");
    expect((await idp.call("clients.show", { client_id: id })).redirect_uris).toHaveLength(1);
  });
});

test("a refused form is open on the page that refuses it, with what was typed", async () => {
  const users = await browser.open(at("users"));
  const typed = { username: "erin", email: "erin <at>", displayName: "Erin", roles: "admin, ops" };
  const added = await browser.press(users, "add-user-new", typed);
  expect(added.body).toMatch(/id="inspector-add-user"[^>]* open/);
  for (const [name, value] of Object.entries(typed)) {
    expect(valueOf(added, `new-${name}`)).toBe(value);
  }
  const { client_id: id } = (await register(idp)).credentials;
  const cases = [
    ["users", "edit-user-alice", { claims: '{"a": </textarea>' }, "claims-alice"],
    ["clients", `add-redirect-uri-${id}`, { value: '/call"back' }, `add-redirect-uri-value-${id}`],
    ["testing", "advance-clock", { value: "soon" }, "advance-value-clock"],
    ["testing", "save-snapshot-new", { value: "a b" }, "save-snapshot-value-new"],
  ] as const;
  for (const [tab, button, change, field] of cases) {
    const refused = await browser.press(await browser.open(at(tab)), button, change);
    expect([button, refused.status]).toEqual([button, 422]);
    expect([button, valueOf(refused, field)]).toEqual([button, Object.values(change)[0]]);
  }
  expect((await browser.open(at("users"))).body).not.toContain("Erin");
});

test("a list that is empty names the next step, and a search that finds nothing does not", async () => {
  const empty = await serve({ fixtures: [{}] });
  const inside = await openInspector(empty);
  const shown = async (path: string): Promise<string> => textOf(await inside.browser.open(inside.at(path)));
  for (const [tab, command] of [
    ["users", "idp users add alice"],
    ["clients", "idp clients add shop --redirect-uri http://localhost:3000/callback"],
    ["grants", "idp login"],
  ] as const) {
    expect(await shown(tab)).toContain(command);
    const searched = await shown(`${tab}?q=nothing`);
    expect(searched).not.toContain(command);
    expect(searched).toMatch(/“\s*nothing\s*”/);
    expect(searched).not.toContain("nobody is signed in");
  }
});

test("grants are revoked and sessions ended", async () => {
  const app = await register(idp);
  const user = await enroll(idp);
  const signedIn = await app.signIn({ user });
  const { access_token: token } = (await app.exchange(signedIn.code)).json;
  const list = await browser.open(at(`grants?q=${user}`));
  const [grant] = await idp.call("grants.list", { user });
  const revoked = await browser.press(list, `revoke-${grant?.id ?? ""}`);
  expect(textOf(revoked)).toContain(`idp grants revoke ${grant?.id ?? ""}`);
  expect((await userinfo(idp, token)).json).toMatchObject({ error: "access_revoked" });
  const [session] = await idp.call("sessions.list", { user });
  const ended = await browser.press(revoked, `end-session-${session?.id ?? ""}`);
  expect(textOf(ended)).toContain(`The session ${session?.id ?? ""} has ended.`);
  expect(await idp.call("sessions.list", { user })).toEqual([]);
});

describe("tokens", () => {
  const check = async (token: string) => browser.press(await browser.open(at("tokens")), "inspector-verify", { token });
  test("one is decoded and verified, and not repeated", async () => {
    const app = await register(idp);
    const { access_token: token } = await app.tokens();
    const shown = await check(token);
    expect(textOf(shown)).toMatch(/Valid.*signature\s+passed.*"client_id"/s);
    expect(shown.body).not.toContain(token);
    expect(shown.url).not.toContain(token);
  });

  test("says why one is not valid", async () => {
    const { token } = await idp.call("token.issue", { user: "alice", client: "demo-app", expired: true });
    expect(textOf(await check(token))).toMatch(/Not valid.*exp\s+failed\s+expired/s);
  });

  test("takes a whole token response, and refuses other text", async () => {
    const tokens = await idp.call("issue.tokens", { user: "alice", client: "demo-app" });
    const shown = await check(JSON.stringify(tokens));
    expect(shown.body.match(/<section class="token">/g)).toHaveLength(3);
    const refused = await check("not.a.token");
    expect([refused.status, refused.state]).toEqual([409, "tokens"]);
    expect(textOf(refused)).toContain("This can't be checked.");
    expect(refused.body).toContain('id="inspector-refused"');
  });
});

describe("clock and faults", () => {
  test("the clock is advanced, set, frozen and reset", async () => {
    const page = await browser.open(at("testing"));
    const ahead = await browser.press(page, "advance-clock", { value: "31m" });
    expect(textOf(ahead)).toMatch(/31 minutes ahead.*idp clock reset/s);
    expect(textOf(ahead)).toContain("The clock was moved by 31 minutes.");
    expect(textOf(ahead)).toContain("idp clock advance 31m");
    const frozen = await browser.press(ahead, "freeze-clock");
    expect(await idp.call("clock.show", {})).toMatchObject({ offset: 1860, frozen: true });
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
  const restored = await inside.browser.press(expired, "restore-snapshot-before");
  expect(textOf(restored)).toContain("idp snapshots restore before");
  expect(await own.call("users.show", { username: "bob" })).toMatchObject({ status: "active" });
  await own.call("users.suspend", { username: "bob" });
  const reset = await inside.browser.press(await inside.browser.press(restored, "reset-all"), "inspector-sure");
  expect(textOf(reset)).toContain("idp reset --yes");
  expect(await own.call("users.show", { username: "bob" })).toMatchObject({ status: "active" });
});

test("users are added, and their roles and claims edited; clients show their metadata", async () => {
  const name = `new-${Date.now()}`;
  const list = await browser.open(at("users"));
  const added = await browser.press(list, "add-user-new", {
    ...{ username: name, email: "n@example.test", displayName: "New One", roles: "admin, ops" },
  });
  expect(textOf(added)).toContain(
    `idp users add ${name} --email n@example.test --display-name VALUE --set claims=VALUE2`,
  );
  expect(textOf(added)).toContain('VALUE is New One. VALUE2 is {"roles":["admin","ops"]}');
  expect(await idp.call("users.show", { username: name })).toMatchObject({
    ...{ email: "n@example.test", displayName: "New One", claims: { roles: ["admin", "ops"] } },
  });
  const found = await browser.open(at(`users?q=${name}`));
  const edited = await browser.press(found, `edit-user-${name}`, { roles: "editor", claims: '{"tenant":"acme"}' });
  expect(edited.status).toBe(200);
  expect(await idp.call("users.show", { username: name })).toMatchObject({
    claims: { roles: ["editor"], tenant: "acme" },
  });
  for (const claims of ["{", "[]", '{"sub":"x"}']) {
    const refused = await browser.press(found, `edit-user-${name}`, { claims });
    expect([claims, refused.status, refused.state]).toEqual([claims, 422, "users"]);
  }
  expect(textOf(found)).toContain(`idp login --user ${name} --approve`);
  const clients = await browser.open(at("clients?q=demo-app"));
  expect(textOf(clients)).toContain('"post_logout_redirect_uris"');
  expect(textOf(clients)).not.toContain("demo-secret");
});

test("fixtures: the problems of the files as they are now, with the command", async () => {
  let text = "users:\n  - username: zoe\n";
  const own = await serve({ fixtures: () => [{ name: "idp.fixtures.yaml", text }] });
  const inside = await openInspector(own);
  const open = () => inside.browser.open(inside.at("fixtures"));
  expect(textOf(await open())).toMatch(/no problems.*idp seed --check idp\.fixtures\.yaml/s);
  text += "    emial: zoe@example.test\n";
  expect(textOf(await open())).toContain("idp.fixtures.yaml:3:5 users[0].emial unknown key. Did you mean email?");
});

test("below the path of the issuer", async () => {
  const below = await serve({ issuer: "http://localhost:4398/tenant" });
  const { url } = await below.call("inspector.open", {});
  expect(url).toMatch(/^http:\/\/localhost:4398\/tenant\/_idp\/[\w-]{22}\/\?key=/);
  const answer = await fetch(url.replace("4398", String(below.port)), { redirect: "manual" });
  expect(answer.headers.getSetCookie()).toEqual([expect.stringContaining(`; Path=${new URL(url).pathname};`)]);
});

test("the pages as data", async () => {
  const answer = await browser.request(at("users?q=alice"), { headers: { accept: "application/json" } });
  expect(await answer.json()).toMatchObject({
    page: "inspector",
    state: "users",
    csrf: expect.any(String) as string,
    users: [
      { username: "alice", status: "active", changes: [{ kind: "suspend" }, { kind: "ban" }, { kind: "remove-user" }] },
    ],
  });
});

test("what is not there below /_idp names the command that opens the inspector, to a program too", async () => {
  const own = await serve();
  for (const path of ["/_idp", "/_idp/", "/_idp/nothing"]) {
    const response = await fetch(own.issuer + path);
    expect([response.status, ((await response.json()) as Record<string, unknown>)["error_description"]]).toEqual([
      404,
      `there is nothing at ${path}; the inspector opens with: idp open`,
    ]);
  }
});
