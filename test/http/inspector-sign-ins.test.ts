import { expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import { pkce, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { openInspector, textOf } from "../helpers/inspector.ts";
import { registerSp, signInBySaml } from "../helpers/saml.ts";

/** The sign-ins of the inspector: what it shows of each, and what it hides. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const { browser, at } = await openInspector(idp);

/** The page of the newest sign-in, and its row in the list. */
async function newest() {
  const list = await browser.open(at());
  const [, row = ""] = /(<tr id="row-flow-.*?)<\/tr>/s.exec(list.body) ?? [];
  const href = /href="([^"]+)"/.exec(row)?.[1] ?? "";
  const page = await browser.open(href);
  return { row: textOf({ body: row }), page, text: textOf(page) };
}

const app = await register(idp, { client_id: "shop" });

test("a sign-in that passes: app, user, and its requests between browser, app and idp", async () => {
  const { access_token: token } = await app.tokens({ scope: "openid profile" });
  await userinfo(idp, token);
  const { row, page, text } = await newest();
  expect(row).toMatch(/shop alice OK authorization_code/);
  expect([page.page, page.state]).toEqual(["inspector", "sign-in"]);
  const sequence = [...page.body.matchAll(/class="arrow (\w+ \w+)"/g)].map(([, arrow]) => arrow);
  expect(sequence).toEqual([
    ...["out browser", "back browser", "out browser", "back browser", "out browser", "back browser"],
    ...["out browser", "back browser", "out browser", "back app", "out app", "back app", "out app", "back app"],
  ]);
  expect(text).toMatch(/passed code belongs to this sign-in passed redirect_uri same as in the authorization request/);
  expect(text).toContain('"preferred_username": "alice"');
  expect(text).toContain("passed access token the newest one");
});

test("a login page that nobody opened is a sign-in that is not finished", async () => {
  const answer = await fetch(app.url(), { redirect: "manual" });
  expect(answer.headers.get("location")).toContain("/login");
  expect((await newest()).row).toMatch(/shop .*Not finished The user did not finish the login page/);
});

test("after an operator's revoke the inspector says who it was; the answer has the words of the service", async () => {
  const { code } = await app.signIn({});
  await idp.call("revoke", { user: "alice", client: "shop" });
  const refused = await app.exchange(code);
  expect(refused.json).toMatchObject({
    error_description: expect.stringContaining("Access revoked by user") as string,
  });
  const { row } = await newest();
  expect(row).toContain("the grant behind this code was revoked by the operator");
  expect(row).not.toContain("Access revoked by user");
});

test("a page of a restarted server names the command that the shell finds", async () => {
  const own = await serve({ commandLine: (words) => ["npx", "dev-idp", ...words.slice(1)].join(" ") });
  const inside = await openInspector(own);
  expect(textOf(await inside.browser.open(inside.at()))).toContain("Open the inspector again: npx dev-idp open");
});

test("a sign-in by SAML: its messages as XML without the NameID, and its own checks", async () => {
  const own = await serve();
  await signInBySaml(own, await registerSp(own), { relayState: "/deep" });
  const inside = await openInspector(own);
  const list = await inside.browser.open(inside.at());
  const [, href = ""] = /<tr id="row-flow-.*?href="([^"]+)"/s.exec(list.body) ?? [];
  const text = textOf(await inside.browser.open(href));
  expect(text).toMatch(/passed InResponseTo .*passed RelayState/);
  expect(text).not.toContain("failed state");
  for (const message of ["AuthnRequest", "Response"]) expect(text).toMatch(new RegExp(`<\\w+:${message} `));
  expect(text).toMatch(/NameID[^>]*>#/);
});

/** Sign-ins that fail, and what has to be seen of each at once. */
const failures: Readonly<Record<string, readonly [make: () => Promise<unknown>, seen: RegExp]>> = {
  "the user denies": [
    async () => {
      const visitor = new Browser(idp.issuer);
      const consent = await visitor.press(await visitor.open(app.url({ prompt: "consent" })), "login-as-alice");
      await visitor.press(consent, "consent-deny");
    },
    /Refused access_denied: The user denied the request/,
  ],
  "wrong password": [
    async () => {
      const visitor = new Browser(idp.issuer);
      await visitor.press(await visitor.open(app.url()), "login-submit", { username: "alice", password: "no" });
    },
    /Refused wrong password of alice/,
  ],
  "wrong secret": [
    async () => app.exchange((await app.signIn()).code, { client_secret: "another secret" }),
    /Refused invalid_client: .*secret.*failed client its secret or assertion was refused/,
  ],
  "wrong redirect URI": [
    () => new Browser(idp.issuer).open(app.url({ redirect_uri: "http://localhost:3001/callback" })),
    /Refused invalid_request: redirect_uri .*How to fix it: idp clients edit shop --add-redirect-uri http:\/\/localhost:3001\/callback/,
  ],
  "unknown client": [
    () => new Browser(idp.issuer).open(app.url({ client_id: "shoop" })),
    /Refused invalid_(client|request): .*shoop/,
  ],
  "expired code": [
    async () => {
      const { code } = await app.signIn();
      clock.pass(61);
      await app.exchange(code);
    },
    /Refused invalid_grant: .*expired/,
  ],
  "a code that is too old for a moved clock": [
    async () => {
      const { code } = await app.signIn();
      await idp.clock.advance(61);
      await app.exchange(code);
      await idp.clock.reset();
    },
    /Refused invalid_grant: .*expired.*The server's clock was 61 seconds ahead at that time\./,
  ],
  "wrong verifier": [
    async () => {
      const { challenge } = pkce();
      const { code } = await app.signIn({ code_challenge: challenge, code_challenge_method: "S256" });
      await app.exchange(code, { code_verifier: pkce().verifier });
    },
    /Refused invalid_grant: .*failed PKCE code_verifier does not fit code_challenge/,
  ],
  "refresh token used twice": [
    async () => {
      const { refresh_token: token } = await app.tokens({ scope: "openid offline_access" });
      await app.refresh(token);
      await app.refresh(token);
    },
    /Refused invalid_grant: .*failed refresh token an earlier one, used before/,
  ],
  "access revoked": [
    async () => {
      const user = await enroll(idp);
      const { access_token: token } = await app.tokens({ user });
      await idp.call("revoke", { user });
      await userinfo(idp, token);
    },
    /Refused access_revoked.*passed access token the newest one failed access_revoked /,
  ],
  "access revoked, then a refresh": [
    async () => {
      const user = await enroll(idp);
      const { refresh_token: token } = await app.tokens({ user });
      await idp.call("revoke", { user });
      await app.refresh(token);
    },
    /Refused invalid_grant: refresh_token is not accepted: the grant of user .* was revoked by the operator/,
  ],
  "suspended user": [
    async () => {
      const visitor = new Browser(idp.issuer);
      await visitor.press(await visitor.open(app.url()), "login-as-carol");
    },
    /Refused carol is suspended.*How to fix it: idp users restore carol/,
  ],
  "a fault": [
    async () => {
      await idp.call("faults.add", { endpoint: "token", status: 503 });
      await app.exchange((await app.signIn()).code);
    },
    /Fault .*503.*A fault made this response wrong on purpose/,
  ],
  "a lost response": [
    async () => {
      await idp.call("faults.add", { endpoint: "token", drop: true, after: true });
      await app.exchange((await app.signIn()).code).catch(() => null);
    },
    /Fault .*connection closed.*no response.*Response that did not arrive access_token/,
  ],
};

test.each(Object.entries(failures))(
  "%s: the row says so, and the page opens at the request that failed",
  async (_name, [make, seen]) => {
    await make();
    const { row, page, text } = await newest();
    expect(text).toMatch(seen);
    expect(row).toMatch(/Refused|Fault/);
    expect(text.includes("failed PKCE")).toBe(seen.source.includes("failed PKCE"));
    const open = [...page.body.matchAll(/<details id="(request-(?:r|[a-z]+-)\d+)"[^>]* open>/g)].map(([, id]) => id);
    expect(open.length).toBeGreaterThan(0);
  },
);

test("a wrong password before the right one is not a failure", async () => {
  const visitor = new Browser(idp.issuer);
  const wrong = await visitor.press(await visitor.open(app.url()), "login-submit", { username: "bob", password: "no" });
  await visitor.press(wrong, "login-as-bob");
  expect((await newest()).row).toMatch(/bob Not finished The user did not finish the consent page/);
});

test("a pushed request is compared with what was pushed: no check fails", async () => {
  const { client_id, client_secret } = app.credentials;
  const { verifier, challenge } = pkce();
  const body = new URLSearchParams({
    ...{ client_id, client_secret: client_secret ?? "", response_type: "code", scope: "openid" },
    ...{ redirect_uri: "http://localhost:3000/callback", state: "af0ifjsldkj", nonce: "n-1" },
    ...{ code_challenge: challenge, code_challenge_method: "S256" },
  });
  const pushed = await fetch(`${idp.issuer}/api/v2/oauth/par`, { method: "POST", body });
  const { request_uri } = (await pushed.json()) as { request_uri: string };
  const visitor = new Browser(idp.issuer);
  const query = new URLSearchParams({ client_id, request_uri }).toString();
  const done = await approve(visitor, await visitor.open(`/api/v2/oauth/authorize?${query}`));
  await app.exchange(done.left?.searchParams.get("code") ?? "", { code_verifier: verifier });
  const { row, text } = await newest();
  expect(row).toMatch(/shop alice OK/);
  expect(text).not.toMatch(/failed (state|PKCE|nonce|redirect_uri)/);
  expect(text).toMatch(/passed state returned unchanged.*passed PKCE.*passed nonce/);
});

test("a sign-in that was left says where, instead of OK", async () => {
  const visitor = new Browser(idp.issuer);
  const login = await visitor.open(app.url({ prompt: "login consent" }));
  expect((await newest()).row).toMatch(/shop Not finished The user did not finish the login page/);
  const consent = await visitor.press(login, "login-as-alice");
  expect((await newest()).row).toMatch(/shop alice Not finished The user did not finish the consent page/);
  await visitor.press(consent, "consent-allow");
  expect((await newest()).row).toMatch(/shop alice Not finished The app did not redeem the code/);
});

test("what an operator did stands between the requests, however it was done", async () => {
  const user = await enroll(idp);
  const { access_token: token } = await app.tokens({ user });
  await idp.call("users.suspend", { username: user });
  await fetch(`${idp.issuer}/_idp/api/clock/advance`, {
    method: "POST",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: '{"by":"1m"}',
  });
  const inside = await openInspector(idp);
  const asked = await inside.browser.press(await inside.browser.open(inside.at(`users?q=${user}`)), `ban-${user}`);
  await inside.browser.press(asked, "inspector-sure");
  await userinfo(idp, token);
  await idp.clock.reset();
  const { text } = await newest();
  const ran = [`idp users suspend ${user}`, "idp clock advance 1m", `idp users ban ${user}`];
  for (const command of ran) expect(text).toContain(`An operator ran ${command}`);
  expect(ran.map((command) => text.indexOf(command))).toEqual(
    ran.map((command) => text.indexOf(command)).toSorted((a, b) => a - b),
  );
  expect(text.lastIndexOf("GET userinfo")).toBeGreaterThan(text.indexOf(ran[2] ?? ""));
  expect(text).not.toContain("An operator ran idp clock reset");
});

test("unknown paths and an operator's calls are rows of their own or none, whatever token they have", async () => {
  const { access_token: token } = await app.tokens();
  const { row } = await newest();
  const headers = { authorization: `Bearer ${token}` };
  for (const path of ["/one", "/two"]) await fetch(idp.issuer + path, { headers });
  const list = textOf(await browser.open(at()));
  expect(list).toMatch(/\/two Refused not_found.*\/one Refused not_found/);
  expect((await newest()).row).toMatch(/\/two/);
  expect(list).toContain(row);
  await idp.call("snapshots.save", { name: "s" });
  await fetch(`${idp.issuer}/_idp/api/snapshots/s/restore`, { method: "POST" });
  await idp.restore("s");
  expect((await newest()).row).toMatch(/\/two/);
});

test("the newest sign-in is first, by the time that its row shows", async () => {
  const early = await app.signIn();
  clock.pass(2);
  await app.signIn({ user: "bob" });
  await app.exchange(early.code);
  expect((await newest()).row).toMatch(/bob/);
});

test("the search finds a sign-in by app, user and error", async () => {
  await failures["wrong secret"]?.[0]();
  for (const q of ["shop", "alice", "invalid_client"]) {
    expect((await browser.open(at(`?q=${q}`))).body).toContain("row-flow-");
  }
  const none = await browser.open(at("?q=nothing-like-it"));
  expect([none.body.includes("row-flow-"), textOf(none).includes("Nothing matches")]).toEqual([false, true]);
});

test("the command has a placeholder for each secret, and no page has a secret", async () => {
  const { verifier, challenge } = pkce();
  const state = "state-that-nobody-may-see";
  const { code } = await app.signIn({ state, code_challenge: challenge, code_challenge_method: "S256" });
  const tokens = (await app.exchange(code, { code_verifier: verifier })).json;
  await userinfo(idp, tokens.access_token);
  await app.refresh(tokens.refresh_token);
  const { page, text } = await newest();
  expect(text).toContain(
    "curl -i -d client_id=shop -d client_secret=CLIENT_SECRET -d grant_type=authorization_code -d code=CODE",
  );
  expect(text).toContain("curl -i -H 'Authorization: Bearer ACCESS_TOKEN'");
  const secrets = [code, verifier, challenge, state, tokens.access_token, tokens.refresh_token, tokens.id_token];
  for (const secret of [...secrets, app.credentials.client_secret ?? ""]) {
    expect(page.body).not.toContain(secret);
    expect((await browser.open(at())).body).not.toContain(secret);
  }
});

test("the page of a dropped sign-in says so", async () => {
  const gone = await browser.open(at("sign-ins/f9999999"));
  expect([gone.status, gone.page]).toEqual([404, "error"]);
});
