import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { userinfo } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector } from "../helpers/inspector.ts";
import type { FixtureSource } from "../../src/index.ts";

/**
 * The inspector: what a person with its cookie sees and does. inspector-testing.test.ts has the tab of the clock and the faults,
 * test/attacks/inspector.test.ts the requests without the cookie.
 */

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

test("users are added, and their roles and claims edited; clients show their metadata", async () => {
  const name = `new-${Date.now()}`;
  const list = await browser.open(at("users"));
  const added = await browser.press(list, "add-user-new", {
    ...{ username: name, email: "n@example.com", displayName: "New One", roles: "admin, ops" },
  });
  expect(textOf(added)).toContain(
    `idp users add ${name} --email n@example.com --display-name VALUE --set claims=VALUE2`,
  );
  expect(textOf(added)).toContain('VALUE is New One. VALUE2 is {"roles":["admin","ops"]}');
  expect(await idp.call("users.show", { username: name })).toMatchObject({
    ...{ email: "n@example.com", displayName: "New One", claims: { roles: ["admin", "ops"] } },
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
  await idp.call("clients.remove", { client_id: "idp-cli" });
  expect(textOf(await browser.open(at(`users?q=${name}`)))).not.toContain("idp login");
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
  text += "    emial: zoe@example.com\n";
  expect(textOf(await open())).toContain("idp.fixtures.yaml:3:5 users[0].emial is an unknown key. Did you mean email?");
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
