import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { enroll, register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { pkce, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { cpuTimeOf } from "../helpers/cpu-time.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector } from "../helpers/inspector.ts";

/** The sign-ins of the inspector: what it shows of each, and what it hides. */

const clock = testClock();
const idp = await serve({ now: clock.now });
const { browser, at } = await openInspector(idp);
const textOf = ({ body }: { readonly body: string }): string =>
  unescapeHtml(body.replace(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");

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
    /Refused wrong user name or password/,
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
    /Refused invalid_grant: .*expired.*The server's clock was moved by 61 s at that time\./,
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
    /Refused access_revoked/,
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
    /Refused the account is suspended.*How to fix it: idp users restore carol/,
  ],
  "a fault": [
    async () => {
      await idp.call("faults.add", { fault: { endpoint: "token", status: 503 } });
      await app.exchange((await app.signIn()).code);
    },
    /Fault .*503.*A fault made this response wrong on purpose/,
  ],
  "a lost response": [
    async () => {
      await idp.call("faults.add", { fault: { endpoint: "token", drop: true, after: true } });
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
    const open = [...page.body.matchAll(/<details id="(request-r\d+)"[^>]* open>/g)].map(([, id]) => id);
    expect(open.length).toBeGreaterThan(0);
  },
);

test("a wrong password before the right one is not a failure", async () => {
  const visitor = new Browser(idp.issuer);
  const wrong = await visitor.press(await visitor.open(app.url()), "login-submit", { username: "bob", password: "no" });
  await visitor.press(wrong, "login-as-bob");
  expect((await newest()).row).toMatch(/bob OK/);
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
  const gone = await browser.open(at("sign-ins/f999"));
  expect([gone.status, gone.page]).toEqual([404, "error"]);
});

test("without a sign-in, the command that makes one", async () => {
  await idp.call("requests.clear", {});
  const empty = await browser.open(at());
  expect([empty.state, textOf(empty).includes("idp login")]).toEqual(["empty", true]);
});

test("a thousand entries, and neither the inspector nor the control API is among them", async () => {
  for (let at = 0; at < 1000; at += 50) {
    await Promise.all(Array.from({ length: 50 }, () => fetch(app.url({ prompt: "none" }), { redirect: "manual" })));
  }
  let body = "";
  expect(await cpuTimeOf(async () => ({ body } = await browser.open(at())))).toBeLessThan(1000);
  expect(body.match(/ id="row-flow-/g)).toHaveLength(100);
  expect((await idp.call("requests.list", {})).filter(({ path }) => path.startsWith("/_idp/"))).toEqual([]);
});

test("the stream says of which sign-in a request is, and ends with the server", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  const cookie = [...inside.browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const heard = new Promise<string>((resolve, reject) => {
    let text = "";
    httpRequest(inside.at("stream"), { headers: { cookie } }, (response) => {
      response.on("data", (chunk: Buffer) => {
        if (text === "") void fetch(`${own.issuer}/api/v2/oauth/authorize`).then(() => own.close());
        text += chunk.toString();
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    }).end();
  });
  expect(await heard).toMatch(/^data: f\d+$/m);
  expect((await fetch(at("stream"))).status).toBe(403);
});
