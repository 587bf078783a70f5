import { expect, test } from "vitest";
import { codeAt } from "../../src/core/records/step-up/otp.ts";
import { register, serve } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser, formsOf, type Visit } from "../helpers/browser.ts";
import { pick } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { freePort } from "../helpers/port.ts";

/** Nobody reaches consent, a code or a passkey without the factor that was asked for. */

const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const clock = testClock();
const idp = await underAttack({ now: clock.now });
await idp.call("seed", {
  users: [{ username: "erin", factors: ["otp"], otp_secret: secret }, { username: "otto" }],
  settings: { acr: { "urn:otp": ["otp"], "urn:weak": ["otp"] } },
});
const app = await register(idp);
const code = (): string => codeAt(secret, Math.floor(clock.now() / 30_000));

/** At the page `factor` as erin. */
async function atFactor(browser = new Browser(idp.issuer)): Promise<{ browser: Browser; visit: Visit }> {
  clock.pass(90);
  const visit = await pick(browser, await browser.open(app.url({ acr_values: "urn:otp" })), "erin");
  expect(visit.page).toBe("factor");
  return { browser, visit };
}
const csrfOf = ({ body }: Visit): string =>
  formsOf(body)
    .flatMap(({ fields }) => fields)
    .find(([name]) => name === "csrf")?.[1] ?? "";
const post = (browser: Browser, url: string, fields: Record<string, string>): Promise<Visit> =>
  browser.open(url, { method: "POST", body: new URLSearchParams(fields), headers: { origin: new URL(url).origin } });

test("the consent page leads back to the factor, and its form decides nothing", async () => {
  const { browser, visit } = await atFactor();
  const consent = visit.url.replace(/factor$/, "consent");
  expect((await browser.open(consent)).page).toBe("factor");
  for (const csrf of [csrfOf(visit), `${csrfOf(visit)}.x`]) {
    const answered = await post(browser, consent, { csrf, decision: "allow", scope: "openid" });
    expect(answered.left).toBeNull();
    expect(answered.page).not.toBe("consent");
  }
});

test("signing in again on the login page leads to the factor again", async () => {
  const { browser, visit } = await atFactor();
  const login = visit.url.replace(/factor$/, "login");
  const again = await post(browser, login, { csrf: csrfOf(visit), username: "erin", pick: "1" });
  expect(again.page).toBe("factor");
});

test("the form is refused from another browser, without its csrf value, and before anybody signed in", async () => {
  const { browser, visit } = await atFactor();
  const stranger = new Browser(idp.issuer);
  await stranger.open(app.url());
  const fields = { csrf: csrfOf(visit), otp: code() };
  expect((await post(stranger, visit.url, fields)).left).toBeNull();
  expect((await post(browser, visit.url, { ...fields, csrf: "wrong" })).status).toBe(403);
  const fresh = new Browser(idp.issuer);
  const login = await fresh.open(app.url({ acr_values: "urn:otp" }));
  const early = await post(fresh, login.url.replace(/login$/, "factor"), { csrf: csrfOf(login), otp: code() });
  expect(early.page).toBe("login");
  // None of them used the code up.
  expect((await browser.press(visit, "factor-submit", { otp: code() })).page).toBe("consent");
});

test("a code of another user, and the factor of another user in another tab, do not count", async () => {
  const { browser, visit } = await atFactor();
  const proved = await browser.press(visit, "factor-submit", { otp: code() });
  expect(proved.page).toBe("consent");
  // Another tab signs another user in, who has proved nothing.
  const other = await browser.open(app.url({ prompt: "login" }));
  await pick(browser, other, "otto");
  const back = await browser.press(proved, "consent-allow");
  expect(back.left?.searchParams.get("code") ?? null).toBeNull();
});

test("what the request asked for stays, whatever the page's address or form says", async () => {
  const { browser, visit } = await atFactor();
  expect((await browser.open(`${visit.url}?acr_values=urn:idp:single-factor&instead=pwd`)).page).toBe("factor");
  const changed = await browser.press(visit, "factor-submit", { otp: "", acr_values: "urn:idp:single-factor" });
  expect(changed).toMatchObject({ page: "factor", state: "error-otp" });
});

test("where a value needs more from now on, a sign-in that waits needs more as well", async () => {
  const { browser, visit } = await atFactor();
  const proved = await browser.press(visit, "factor-submit", { otp: code() });
  await idp.call("seed", { settings: { acr: { "urn:otp": ["otp", "passkey"] } } });
  const after = await browser.press(proved, "consent-allow");
  expect(after.left?.searchParams.get("code") ?? null).toBeNull();
  await idp.call("seed", { settings: { acr: { "urn:otp": ["otp"] } } });
});

test("a session from before gives no code silently, and no factor to another session", async () => {
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open(app.url()), "erin");
  const before = new Map(browser.cookies);
  const silent = await browser.open(app.url({ acr_values: "urn:otp", prompt: "none" }));
  expect(silent.left?.searchParams.get("error")).toBe("interaction_required");
  clock.pass(90);
  const factor = await browser.open(app.url({ acr_values: "urn:otp" }));
  await browser.press(factor, "factor-submit", { otp: code() });
  // The cookie of before is dead: it proved less.
  const old = new Browser(idp.issuer);
  for (const [name, value] of before) old.setCookie(name, value);
  const { left } = await old.open(app.url({ acr_values: "urn:otp", prompt: "none" }));
  expect(left?.searchParams.get("error")).toBe("login_required");
});

test("a user who has a factor cannot add or remove a passkey without it", async () => {
  const browser = new Browser(idp.issuer);
  const account = await pick(browser, await browser.open(`${idp.issuer}/account`), "erin");
  expect(account.body).not.toContain("data-options");
  for (const [path, fields] of [
    ["passkeys", { passkey: "{}" }],
    ["passkeys/remove", { id: "some" }],
  ] as const) {
    const visit = await post(browser, `${idp.issuer}/account/${path}`, { csrf: csrfOf(account), ...fields });
    expect(visit.page).toBe("factor");
  }
  clock.pass(90);
  const asked = await browser.press(account, "account-passkey-add");
  const back = await browser.press(asked, "factor-submit", { otp: code() });
  expect(back.page).toBe("account");
  expect(back.body).toContain("data-options");
});

test("one code proves one sign-in, however many requests bring it at once", async () => {
  const waiting = await Promise.all(Array.from({ length: 5 }, async () => atFactor()));
  const answers = await Promise.all(
    waiting.map(({ browser, visit }) => browser.press(visit, "factor-submit", { otp: code() })),
  );
  expect(answers.filter(({ page }) => page === "consent")).toHaveLength(1);
});

test("neither code nor passkey is in the ledger", async () => {
  const { browser, visit } = await atFactor();
  const otp = code();
  await post(browser, visit.url, { csrf: csrfOf(visit), otp, passkey: '{"id":"the-passkey"}' });
  const { parameters, ...rest } = (await idp.call("requests.list", { endpoint: "factor" })).at(-1) ?? {
    parameters: {},
  };
  const fingerprint: unknown = { fingerprint: expect.any(String) as string };
  expect(parameters).toMatchObject({ otp: fingerprint, passkey: fingerprint });
  expect(JSON.stringify([parameters, rest])).not.toMatch(new RegExp(`"${otp}"|the-passkey`));
});

test("where passkeys do not work, a registered one cannot be removed without it", async () => {
  const port = Number(await freePort());
  const own = await serve({ port, issuer: `http://127.0.0.1:${port}` });
  const exported = JSON.stringify(await own.call("export", {}));
  const passkey = { id: "Y3JlZC0x", publicKey: "pQECAyYgASFYIA", counter: 0, transports: ["internal"] };
  const passkeys = [{ ...passkey, createdAt: "2026-01-01T00:00:00.000Z" }];
  const withPasskey = exported.replace('"username":"alice"', `$&,"passkeys":${JSON.stringify(passkeys)}`);
  await own.call("import", JSON.parse(withPasskey) as never);
  const browser = new Browser(own.issuer);
  const account = await pick(browser, await browser.open("/account"), "alice");
  const after = await browser.press(account, `account-passkey-remove-${passkey.id}`);
  expect([after.page, after.status]).toEqual(["error", 400]);
  expect(after.body).toContain("browsers allow none at this address");
  expect(JSON.stringify(await own.call("export", {}))).toContain(passkey.id);
});
