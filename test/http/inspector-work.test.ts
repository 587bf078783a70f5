import { describe, expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { userinfo } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector, textOf } from "../helpers/inspector.ts";
import { authnRequest, redirectUrl, registerSp } from "../helpers/saml.ts";

/** The inspector as a place to work: what asks first, lists with filters, users that are edited, tokens that are made. */

const idp = await serve();
const { browser, at } = await openInspector(idp);
const rowsOf = ({ body }: Visit): string[] =>
  [...body.matchAll(/<tr id="row-[a-z]+-([^"]+)"/g)].map(([, id = ""]) => id);

describe("what loses something for good asks first", () => {
  test("a ban says how many sessions and grants end; until the second click nothing changes", async () => {
    const user = await enroll(idp);
    const app = await register(idp);
    await app.tokens({ user });
    const list = await browser.open(at(`users?q=${user}&status=active`));
    const asked = await browser.press(list, `ban-${user}`);
    expect([asked.status, asked.state]).toEqual([200, "confirm"]);
    expect(textOf(asked)).toContain(`Ban ${user}? Sessions that end: 1 Grants that end, with all their tokens: 1`);
    expect(textOf(asked)).toContain(`idp users ban ${user}`);
    expect(await idp.call("users.show", { username: user })).toMatchObject({ status: "active" });
    const banned = await browser.press(asked, "inspector-sure");
    expect(textOf(banned)).toContain(`${user} is banned.`);
    // The list is the one that the form was on.
    expect(new URL(banned.url).searchParams.get("status")).toBe("active");
    expect(await idp.call("users.show", { username: user })).toMatchObject({ status: "banned" });
  });

  test("a reset names what it removes and puts back", async () => {
    const own = await serve();
    const inside = await openInspector(own);
    await own.call("users.add", { username: "erin" });
    await own.call("users.edit", { username: "bob", email: "other@example.com" });
    await own.call("users.remove", { username: "carol" });
    const asked = await inside.browser.press(await inside.browser.open(inside.at("testing")), "reset-all");
    expect(asked.state).toBe("confirm");
    expect(textOf(asked)).toMatch(/not have them: erin Back to what the fixtures say: bob .*fixtures: carol /);
    expect((await own.call("users.list", {})).map(({ username }) => username)).toContain("erin");
    const left = await inside.browser.open(
      new URL(/id="inspector-not-sure"[^>]* href="([^"]+)"/.exec(asked.body)?.[1] ?? "", asked.url).href,
    );
    expect(left.state).toBe("testing");
    expect(textOf(await inside.browser.press(asked, "inspector-sure"))).toContain(
      "The server is back at its fixtures.",
    );
    expect((await own.call("users.list", {})).map(({ username }) => username)).not.toContain("erin");
  });

  test("expire asks where it concerns everybody, and not for one user", async () => {
    const own = await serve();
    const inside = await openInspector(own);
    const app = await register(own);
    const { access_token: token } = await app.tokens();
    const page = await inside.browser.open(inside.at("testing"));
    const one = await inside.browser.press(page, "expire-all", { user: "bob", kind: "access" });
    expect(one.state).toBe("testing");
    const asked = await inside.browser.press(page, "expire-all", { kind: "sessions" });
    expect(textOf(asked)).toContain("End the sessions of everybody? Sessions that end: 1");
    const tokens = await inside.browser.press(page, "expire-all", { kind: "access" });
    expect([tokens.state, (await userinfo(own, token)).status]).toEqual(["confirm", 200]);
    expect(textOf(await inside.browser.press(tokens, "inspector-sure"))).toContain("idp expire --all --access");
    expect((await userinfo(own, token)).json).toMatchObject({ error: "invalid_token" });
  });
});

describe("users", () => {
  test("are filtered by status, role and group", async () => {
    const own = await serve({
      fixtures: [
        {
          users: [
            { username: "ann", claims: { roles: ["admin"], groups: ["red"] } },
            { username: "ben", claims: { roles: ["admin"] }, status: "suspended" },
            { username: "cat", claims: { groups: ["red"] } },
          ],
        },
      ],
    });
    const inside = await openInspector(own);
    const found = async (query: string) => rowsOf(await inside.browser.open(inside.at(`users?${query}`)));
    expect(await found("status=suspended")).toEqual(["ben"]);
    expect(await found("role=admin")).toEqual(["ann", "ben"]);
    expect(await found("group=red")).toEqual(["ann", "cat"]);
    expect(await found("role=admin&group=red&status=active")).toEqual(["ann"]);
    expect(await found("q=suspended")).toEqual(["ben"]);
    const none = await inside.browser.open(inside.at("users?role=nobody"));
    expect([rowsOf(none), textOf(none).includes("Nothing matches these filters.")]).toEqual([[], true]);
    expect(none.body).toContain('<option value="red">');
  });

  test("their name, e-mail, password and factors are edited; no page and no address has the password", async () => {
    const user = await enroll(idp, { email: "old@example.com" });
    const list = await browser.open(at(`users?q=${user}`));
    const edited = await browser.press(list, `edit-user-${user}`, {
      ...{ email: "new@example.com", displayName: "New Name", factors: "otp", password: " new password" },
    });
    expect(textOf(edited)).toContain(
      `idp users edit ${user} --email new@example.com --display-name VALUE --password-stdin --set factors=VALUE2`,
    );
    expect(edited.body + edited.url).not.toMatch(/new(?: |%20|\+)password/);
    expect(await idp.call("users.show", { username: user })).toMatchObject({
      ...{ email: "new@example.com", displayName: "New Name", factors: ["otp"], hasPassword: true },
    });
    const app = await register(idp);
    const visitor = new Browser(idp.issuer);
    const login = await visitor.open(app.url());
    const signedIn = await visitor.press(login, "login-submit", { username: user, password: " new password" });
    expect(signedIn.page).toBe("consent");
    // What was left as it is, is not changed, and an emptied e-mail address is removed.
    const emptied = await browser.press(edited, `edit-user-${user}`, { email: "" });
    expect(textOf(emptied)).toContain(`idp users edit ${user} --set email=null`);
    expect(await idp.call("users.show", { username: user })).toMatchObject({ email: null, factors: ["otp"] });
    const refused = await browser.press(edited, `edit-user-${user}`, { email: "no address", password: "secret words" });
    expect([refused.status, refused.body.includes("secret words")]).toEqual([422, false]);
  });

  test("are added with a password, at the top of the page", async () => {
    const list = await browser.open(at("users"));
    expect(list.body.indexOf('id="inspector-add-user"')).toBeLessThan(list.body.indexOf("<table"));
    const added = await browser.press(list, "add-user-new", { username: "walter", password: "walter-secret" });
    expect(textOf(added)).toContain("idp users add walter --password-stdin");
    expect(added.body + added.url).not.toContain("walter-secret");
    expect(await idp.call("users.show", { username: "walter" })).toMatchObject({ hasPassword: true });
  });

  test("are removed, after a question", async () => {
    const user = await enroll(idp);
    const asked = await browser.press(await browser.open(at(`users?q=${user}`)), `remove-user-${user}`);
    expect(asked.state).toBe("confirm");
    const removed = await browser.press(asked, "inspector-sure");
    expect(textOf(removed)).toContain(`idp users remove ${user}`);
    await expect(idp.call("users.show", { username: user })).rejects.toThrow("no user");
  });
});

describe("sign-ins", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  const app = await register(own, { client_id: "shop" });
  const open = (query: string) => inside.browser.open(inside.at(query));

  test("are filtered by outcome, status, client, user and error, which may be those of any of their requests", async () => {
    const other = await register(own, { client_id: "books" });
    await other.tokens({ user: "bob" });
    const { code } = await app.signIn();
    for (const secret of ["wrong one", "wrong two"]) await app.exchange(code, { client_secret: secret });
    await app.exchange(code);
    const [row = ""] = rowsOf(await open("?client=shop"));
    expect(rowsOf(await open("?client=shop"))).toEqual([row]);
    for (const query of ["state=refused", "status=401", "status=4xx", "error=invalid_client", "user=alice"])
      expect([query, rowsOf(await open(`?${query}`))]).toEqual([query, [row]]);
    expect(rowsOf(await open("?state=passed"))).toHaveLength(2);
    expect(rowsOf(await open("?state=refused&client=books"))).toEqual([]);
    expect(rowsOf(await open("?user=bob"))).toHaveLength(1);
    expect(rowsOf(await open("?state=fault"))).toEqual([]);
    // Both refused requests are found, though a later one passed.
    const list = await open("?client=shop");
    expect(textOf(list)).toContain("Refused requests: 2");
    const page = await inside.browser.open(inside.at(`sign-ins/${row}`));
    const [, refusals = ""] = /id="inspector-refusals"(.*?)<\/ul>/s.exec(page.body) ?? [];
    expect(refusals.match(/token 401/g)).toHaveLength(2);
  });

  test("have their date and time zone", async () => {
    expect(textOf(await open("?client=shop"))).toMatch(/\d{1,2} \p{L}{3,4} \d{4}, \d\d:\d\d:\d\d \S+/u);
  });

  test("come in pages of a hundred, which keep the filters", async () => {
    await own.call("requests.clear", {});
    const url = app.url({ prompt: "none" });
    for (let many = 0; many < 130; many += 10)
      await Promise.all(Array.from({ length: 10 }, () => fetch(url, { redirect: "manual" })));
    const first = await open("?state=refused&client=shop");
    expect(rowsOf(first)).toHaveLength(100);
    expect(textOf(first)).toContain("1 to 100 of 130");
    const href = unescapeHtml(/id="inspector-next"[^>]* href="([^"]+)"/.exec(first.body)?.[1] ?? "");
    const second = await inside.browser.open(new URL(href, first.url).href);
    expect(rowsOf(second)).toHaveLength(30);
    expect(new URL(second.url).searchParams.get("client")).toBe("shop");
    expect(rowsOf(first).filter((id) => rowsOf(second).includes(id))).toEqual([]);
  });

  test("of an account page or SAML that somebody left are not finished", async () => {
    await new Browser(own.issuer).open("/account");
    const newest = /<tr id="row-flow-.*?<\/tr>/s.exec((await open("")).body)?.[0] ?? "";
    expect(textOf({ body: newest })).toContain("Not finished The user did not finish the login page");
    const sp = await registerSp(own);
    const browser = new Browser(own.issuer);
    const login = await browser.open(redirectUrl(`${own.issuer}/saml/sso`, authnRequest(own, sp)));
    const row = async () => textOf({ body: /<tr id="row-flow-.*?<\/tr>/s.exec((await open("")).body)?.[0] ?? "" });
    expect(await row()).toContain("Not finished The user did not finish the login page");
    await approve(browser, login);
    expect(await row()).toMatch(/alice OK /);
  });

  test("name a client ID that nobody registered, as it was sent", async () => {
    await new Browser(own.issuer).open(app.url({ client_id: "shoop" }));
    expect(textOf(await open("?client=shoop"))).toMatch(/shoop Refused/);
    const [flow = ""] = rowsOf(await open("?client=shoop"));
    expect(textOf(await open(`sign-ins/${flow}`))).toMatch(/client_id shoop/);
    // A long one may be a secret that was sent in the wrong place.
    const secret = "s3cr3t-that-was-sent-as-client-id";
    await new Browser(own.issuer).open(app.url({ client_id: secret }));
    expect((await open("")).body).not.toContain(secret);
  });

  test("that somebody fixed say so, and their fix stands there once before", async () => {
    const uri = "http://localhost:3777/callback";
    await new Browser(own.issuer).open(app.url({ redirect_uri: uri }));
    const [flow = ""] = rowsOf(await open(""));
    const page = await open(`sign-ins/${flow}`);
    expect(textOf(page).match(/How to fix it/g)).toHaveLength(1);
    expect(textOf(page).match(/--add-redirect-uri/g)).toHaveLength(1);
    const fixed = await inside.browser.press(page, "add-redirect-uri-shop");
    expect(textOf(fixed)).toContain("This has been fixed since. Start the sign-in again.");
    expect(textOf(fixed)).not.toContain("How to fix it");
    const visitor = new Browser(own.issuer);
    await visitor.press(await visitor.open(app.url()), "login-as-carol");
    const [suspended = ""] = rowsOf(await open(""));
    const barred = await open(`sign-ins/${suspended}`);
    expect(textOf(barred)).not.toContain("fixed since");
    expect(textOf(await inside.browser.press(barred, "restore-carol"))).toContain("This has been fixed since.");
    await new Browser(own.issuer).open(app.url({ client_id: "fresh" }));
    const [unknown = ""] = rowsOf(await open("?client=fresh"));
    const made = await inside.browser.press(await open(`sign-ins/${unknown}`), "create-client-fresh");
    expect(textOf(made)).toContain("This has been fixed since.");
  });
});

test("in Turkish, the steps of a sign-in and its checks are Turkish", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  await (await register(own, { client_id: "shop" })).tokens();
  const [flow = ""] = rowsOf(await inside.browser.open(inside.at()));
  const text = textOf(await inside.browser.open(inside.at(`sign-ins/${flow}?lang=tr`)));
  for (const words of [
    "giriş sayfası",
    "onay sayfası",
    "bir kodla istemciye dönüş",
    "bu girişe ait",
    "değişmeden döndü",
  ])
    expect(text).toContain(words);
  expect(text).not.toMatch(/login page|belongs to this sign-in|returned unchanged|id for/);
  expect(textOf(await inside.browser.open(inside.at("?lang=tr")))).toContain(
    'authorization_code: "openid profile email" için access, refresh, id',
  );
});

test("what a fault does is named in the language of the page", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  await own.faults.add({ endpoint: "token", status: 503, delay: "2s", after: true, drop_after: 4 });
  await own.faults.add({ endpoint: "userinfo", flaw: "sub-wrong" });
  await own.faults.add({ endpoint: "jwks", status: 500, body: "Sorry" });
  const effects = async (lang: string) =>
    [
      ...(await inside.browser.open(inside.at(`testing?lang=${lang}`))).body.matchAll(/class="effect">(.*?)<\/span>/g),
    ].map(([, html = ""]) => html.replaceAll(/<[^>]+>/g, ""));
  expect(await effects("en")).toEqual([
    ...["Delay: 2 s", "503 temporarily_unavailable", "Close the connection after: 4", "After the work"],
    ...["Flaw: sub-wrong", "After the work"],
    ...["500", "Body"],
  ]);
  expect(await effects("tr")).toEqual([
    ...["Gecikme: 2 s", "503 temporarily_unavailable", "Bağlantıyı şundan sonra kapat: 4", "İşten sonra"],
    ...["Bozukluk: sub-wrong", "İşten sonra"],
    ...["500", "Gövde"],
  ]);
});

test("grants and sessions each say how many more there are", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  await own.call("seed", { users: Array.from({ length: 103 }, (_, at) => ({ username: `many-${at}` })) });
  for (let at = 0; at < 103; at += 1)
    await own.call("issue.grant", { user: `many-${at}`, client: "demo-app", scope: "openid" });
  const [grants = "", sessions = ""] = (await inside.browser.open(inside.at("grants"))).body.split("<section").slice(1);
  expect(grants.replaceAll(/<[^>]+>/g, "").match(/\d+ more\. Search/g)).toEqual(["3 more. Search"]);
  expect(sessions).not.toContain("Search to find them");
});

describe("tokens", () => {
  const make = async (fields: Readonly<Record<string, string | readonly string[]>>) =>
    browser.press(await browser.open(at("tokens")), "token-make", fields);
  const madeIn = ({ body }: Visit, name: string): string =>
    unescapeHtml(new RegExp(`id="made-${name}"[^>]*><code>([^<]*)<`).exec(body)?.[1] ?? "");

  test("one is made for a user and a client, to copy, and examined at once", async () => {
    const made = await make({ kind: "access", user: "alice", client: "demo-app", scope: "openid email" });
    expect([made.status, made.state]).toEqual([200, "tokens"]);
    const token = madeIn(made, "token");
    expect((await userinfo(idp, token)).json).toMatchObject({ email: "alice@example.com" });
    expect(made.body).toContain('data-copy="made-token"');
    expect(made.url).not.toContain(token);
    expect(textOf(made)).toContain("idp token issue --user alice --client demo-app --scope VALUE --type access");
    expect(textOf(made)).toContain('"client_id": "demo-app"');
    const acts = await idp.call("acts", {});
    expect(JSON.stringify(acts)).not.toContain(token);
    expect(acts.at(-1)).toMatchObject({ command: expect.stringContaining("token issue") as string, by: "admin" });
  });

  test("one that is bad on purpose says what is wrong, and is refused here", async () => {
    const made = await make({ kind: "access", user: "alice", client: "demo-app", flaws: ["expired", "crit"] });
    expect(textOf(made)).toContain("--expired --crit");
    expect((await userinfo(idp, madeIn(made, "token"))).status).toBe(401);
    expect(textOf(made)).toMatch(/expired: this token is bad on purpose.*Not valid/);
    const refused = await make({
      kind: "access",
      user: "alice",
      client: "demo-app",
      flaws: ["expired", "missing_expiry"],
    });
    expect([refused.status, textOf(refused).includes("Nothing was changed.")]).toEqual([422, true]);
    expect(refused.body).toMatch(/id="flaw-expired"[^>]* checked/);
  });

  test("the whole response of an app, with its three tokens", async () => {
    const made = await make({ kind: "all", user: "alice", client: "demo-app", scope: "openid offline_access" });
    const response = JSON.parse(madeIn(made, "token_response")) as Record<string, string>;
    for (const name of ["access_token", "id_token", "refresh_token"]) expect(madeIn(made, name)).toBe(response[name]);
    expect(textOf(made)).toContain("idp issue tokens --user alice --client demo-app --scope");
    expect((await userinfo(idp, response["access_token"] ?? "")).status).toBe(200);
    const refused = await make({ kind: "all", user: "alice", client: "demo-app", audience: "https://api.test" });
    expect([refused.status, textOf(refused).includes("audience")]).toEqual([422, true]);
    const unknown = await make({ kind: "access", user: "alcie", client: "demo-app" });
    expect([unknown.status, textOf(unknown).includes('no user "alcie"')]).toEqual([404, true]);
  });
});

test("a fault's form lists the clients and users that there are; of many, one types a name", async () => {
  const listed = { client: "demo-app", user: "alice" };
  const page = await browser.open(at("testing"));
  for (const [field, name] of Object.entries(listed))
    expect(page.body).toMatch(new RegExp(`<select id="fault-${field}".*?<option value="${name}">${name}<`));
  const many = await serve();
  await many.call("seed", { users: Array.from({ length: 101 }, (_, at) => ({ username: `many-${at}` })) });
  const inside = await openInspector(many);
  const { body } = await inside.browser.open(inside.at("testing"));
  expect(body).toMatch(/<input id="fault-user"[^>]* list="fault-user-names"/);
  expect(body).toMatch(/<datalist id="fault-user-names"[^>]*>.*?<option value="many-100">/);
});
