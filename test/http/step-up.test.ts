import { describe, expect, test } from "vitest";
import { codeAt } from "../../src/core/records/step-up/otp.ts";
import { register, serve, type App } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { jwtPart, pick, post } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** Further factors and what `acr` says of them (RFC 9470, OpenID Connect Core 5.5.1.1). */

const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const acr = { "urn:mfa": ["pwd", "otp"], phr: ["passkey"], "urn:otp": ["otp"] };
const clock = testClock();
const idp = await serve({ now: clock.now });
await idp.call("seed", {
  users: [
    { username: "erin", password: "erin", factors: ["otp"], otp_secret: secret },
    { username: "pia", factors: ["passkey", "otp"], otp_secret: secret },
    { username: "nora" },
  ],
  settings: { acr },
});

const codeNow = (steps = 0): string => codeAt(secret, Math.floor(clock.now() / 30_000) + steps);
const typePassword = (browser: Browser, visit: Visit, username = "erin"): Promise<Visit> =>
  browser.press(visit, "login-submit", { username, password: username });
const typeCode = (browser: Browser, visit: Visit, otp: string): Promise<Visit> =>
  browser.press(visit, "factor-submit", { otp });

interface SignedIn {
  readonly claims: Record<string, unknown>;
  readonly tokens: Readonly<Record<"access_token" | "refresh_token" | "id_token", string>>;
}
async function finish(app: App, browser: Browser, visit: Visit): Promise<SignedIn> {
  const { left } = visit.page === "consent" ? await browser.press(visit, "consent-allow") : visit;
  expect(left?.searchParams.get("error")).toBeNull();
  const { json } = await app.exchange(left?.searchParams.get("code") ?? "");
  return { claims: jwtPart(json.id_token, 1), tokens: json };
}

/** Opens a request as erin, with all that it asks for. */
async function asErin(app: App, browser: Browser, url: string): Promise<Visit> {
  let visit = await browser.open(url);
  if (visit.page === "login") visit = await typePassword(browser, visit);
  if (visit.page === "factor") {
    clock.pass(90);
    visit = await typeCode(browser, visit, codeNow());
  }
  return visit;
}

test("a request for two factors asks for the password and a code, and every token says so", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const login = await browser.open(app.url({ acr_values: "urn:mfa" }));
  const signedAt = Math.floor(clock.now() / 1000);
  const factor = await typePassword(browser, login);
  expect(factor).toMatchObject({ page: "factor", state: "otp" });
  expect(/id="factor-code"[^>]*>(\d{6})</.exec(factor.body)?.[1]).toBe(codeNow(-1));
  clock.pass(20);
  const { claims, tokens } = await finish(app, browser, await typeCode(browser, factor, codeNow()));
  // auth_time is the time of the oldest factor that acr rests on.
  const proved = { acr: "urn:mfa", auth_time: signedAt };
  expect(claims).toMatchObject({ ...proved, amr: ["pwd", "otp", "mfa"] });
  expect(jwtPart(tokens.access_token, 1)).toMatchObject(proved);
  const { json } = await post(idp, "/api/v2/oauth/introspect", { token: tokens.access_token, ...app.credentials });
  expect(json).toMatchObject({ active: true, ...proved });
  const again = await app.refresh(tokens.refresh_token);
  expect(jwtPart(again.json.id_token, 1)).toMatchObject(proved);
  expect(jwtPart(again.json.access_token, 1)).toMatchObject(proved);
});

test("the picker gives no password: picked, a user is asked for it", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const asked = app.url({ acr_values: "urn:mfa", max_age: "300" });
  const picked = await pick(browser, await browser.open(asked), "erin");
  expect(picked).toMatchObject({ page: "login", state: "reauth" });
  // Not that the sign-in, which is seconds old, were too old.
  expect(/id="login-notice"[^>]*>\s*<p>([^<]*)/.exec(picked.body)?.[1]).toBe("This needs your password.");
  expect(picked.body).not.toContain("login-as-erin");
  expect((await typePassword(browser, picked)).page).toBe("factor");
});

test("the page of the second factor has a way out: back to the app, or to the account", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const factor = await typePassword(browser, await browser.open(app.url({ acr_values: "urn:mfa" })));
  const { left } = await browser.press(factor, "factor-cancel");
  expect(left?.searchParams.get("error")).toBe("access_denied");
  expect(left?.searchParams.get("error_description")).toBe("The user canceled the sign-in");
  // The interaction is over, and the session stays.
  expect((await browser.open(factor.url)).state).toBe("expired");
  expect((await browser.open("/account")).page).toBe("account");
});

test("the session remembers: only what is missing is asked for, and without a request acr is the strongest that was met", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const first = await finish(app, browser, await pick(browser, await browser.open(app.url()), "erin"));
  expect(first.claims).toMatchObject({ acr: "urn:idp:single-factor", amr: ["user"] });
  const before = [...browser.cookies];
  const asked = await browser.open(app.url({ acr_values: "urn:otp" }));
  expect(asked.page).toBe("factor");
  clock.pass(90);
  const second = await finish(app, browser, await typeCode(browser, asked, codeNow()));
  expect(second.claims).toMatchObject({ acr: "urn:otp", amr: ["user", "otp"] });
  expect([...browser.cookies]).not.toEqual(before);
  const third = await finish(app, browser, await browser.open(app.url()));
  expect(third.claims).toMatchObject({ acr: "urn:otp", sid: first.claims["sid"] });
});

test.each([
  ["prompt=login", { prompt: "login" }],
  ["max_age=0", { max_age: "0" }],
  ["a max_age that has passed", { max_age: "100" }],
])("%s asks again for every factor that the acr needs", async (_what, parameters) => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  await finish(app, browser, await asErin(app, browser, app.url({ acr_values: "urn:mfa" })));
  clock.pass(300);
  const began = Math.floor(clock.now() / 1000);
  const login = await browser.open(app.url({ acr_values: "urn:mfa", ...parameters }));
  expect(login.page).toBe("login");
  const factor = await typePassword(browser, login);
  expect(factor.page).toBe("factor");
  const { claims } = await finish(app, browser, await typeCode(browser, factor, codeNow()));
  expect(claims["acr"]).toBe("urn:mfa");
  expect(claims["auth_time"]).toBeGreaterThanOrEqual(began);
});

test("a stronger sign-in that is too old for max_age is not reported", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  await finish(app, browser, await asErin(app, browser, app.url({ acr_values: "urn:mfa" })));
  clock.pass(300);
  const began = Math.floor(clock.now() / 1000);
  const login = await browser.open(app.url({ max_age: "100" }));
  const { claims } = await finish(app, browser, await pick(browser, login, "erin"));
  expect(claims["acr"]).toBe("urn:idp:single-factor");
  expect(claims["auth_time"]).toBeGreaterThanOrEqual(began);
});

test("prompt=none answers interaction_required where a factor is missing", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  await finish(app, browser, await pick(browser, await browser.open(app.url()), "erin"));
  const { left } = await browser.open(app.url({ acr_values: "urn:otp", prompt: "none" }));
  expect(left?.searchParams.get("error")).toBe("interaction_required");
  const strong = await asErin(app, browser, app.url({ acr_values: "urn:otp" }));
  await finish(app, browser, strong);
  const silent = await browser.open(app.url({ acr_values: "urn:otp", prompt: "none" }));
  expect(silent.left?.searchParams.get("code")).toEqual(expect.any(String));
});

const essential = (...values: string[]): string => JSON.stringify({ id_token: { acr: { essential: true, values } } });

test.each([
  ["acr_values", { acr_values: "urn:mfa" }],
  ["an essential claim", { claims: essential("urn:mfa", "unknown") }],
  ["a value among others that nobody knows", { acr_values: "unknown phr" }],
])("a user who cannot meet %s gets unmet_authentication_requirements", async (_what, parameters) => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const { left } = await pick(browser, await browser.open(app.url({ ...parameters, state: "s" })), "nora");
  expect(left?.searchParams.get("error")).toBe("unmet_authentication_requirements");
  expect(left?.searchParams.get("state")).toBe("s");
});

test("of several values, the first that the user can meet is asked for, and another one may be chosen", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const asked = await pick(browser, await browser.open(app.url({ acr_values: "phr urn:otp" })), "erin");
  expect(asked).toMatchObject({ page: "factor", state: "otp" });
  const pia = new Browser(idp.issuer);
  const passkey = await pick(pia, await pia.open(app.url({ acr_values: "phr urn:otp" })), "pia");
  expect(passkey).toMatchObject({ page: "factor", state: "passkey" });
  const other = await pia.open(`${passkey.url}?instead=otp`);
  expect(other.state).toBe("otp");
  clock.pass(90);
  const { claims } = await finish(app, pia, await typeCode(pia, other, codeNow()));
  expect(claims["acr"]).toBe("urn:otp");
});

test("a test user may press a button in place of the passkey, which amr does not claim", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const asked = await pick(browser, await browser.open(app.url({ acr_values: "phr" })), "pia");
  const { claims } = await finish(app, browser, await browser.press(asked, "factor-passkey-button"));
  expect(claims).toMatchObject({ acr: "phr", amr: ["user"] });
  const requests = await idp.call("requests.list", { endpoint: "factor" });
  expect(requests.at(-1)?.outcome).toContain("passkey, by button");
});

test("with passwords only, neither the code nor the button exists, and the button's POST is refused", async () => {
  const strict = await serve({ now: clock.now, settings: { login: "password" } });
  await strict.call("seed", {
    users: [{ username: "pia", password: "pia", factors: ["passkey", "otp"], otp_secret: secret }],
    settings: { acr },
  });
  const app = await register(strict);
  const browser = new Browser(strict.issuer);
  const login = await browser.open(app.url({ acr_values: "phr urn:otp" }));
  const asked = await typePassword(browser, login, "pia");
  expect(asked).toMatchObject({ page: "factor", state: "otp" });
  expect(asked.body).not.toMatch(/factor-code|value="button"/);
  const refused = await browser.press(asked, "factor-submit", { otp: null, passkey: "button" });
  expect(refused).toMatchObject({ status: 401, page: "factor" });
});

async function postForm(app: App, endpoint: string, parameters: object): Promise<Readonly<Record<string, string>>> {
  const { client_id, client_secret } = app.credentials;
  const body = new URLSearchParams({ client_id, client_secret: client_secret ?? "", ...parameters });
  const response = await fetch(`${idp.issuer}/api/v2/oauth/${endpoint}`, { method: "POST", body });
  return (await response.json()) as Readonly<Record<string, string>>;
}
const beginDevice = (app: App, acr_values: string): ReturnType<typeof postForm> =>
  postForm(app, "device_authorization", { scope: "openid", acr_values });

test("a device asks for it as well, and hears that its user cannot meet it", async () => {
  const app = await register(idp, {
    grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
  });
  const device = await beginDevice(app, "urn:otp");
  const browser = new Browser(idp.issuer);
  clock.pass(300);
  const factor = await pick(browser, await browser.open(device["verification_uri_complete"] ?? ""), "erin");
  expect(factor.page).toBe("factor");
  const confirm = await typeCode(browser, factor, codeNow());
  expect(confirm).toMatchObject({ page: "device", state: "confirm" });
  await browser.press(confirm, "device-allow");
  const tokens = await post(idp, "/api/v2/oauth/token", {
    ...app.credentials,
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: device["device_code"] ?? "",
  });
  expect(jwtPart(tokens.json.id_token, 1)).toMatchObject({ acr: "urn:otp", amr: ["user", "otp"] });

  const weak = await beginDevice(app, "phr");
  const nora = new Browser(idp.issuer);
  const shown = await pick(nora, await nora.open(weak["verification_uri_complete"] ?? ""), "nora");
  expect((await nora.press(shown, "device-allow")).body).toContain("unmet_authentication_requirements");
  const polled = await post(idp, "/api/v2/oauth/token", {
    ...app.credentials,
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: weak["device_code"] ?? "",
  });
  expect(polled.json.error).toBe("unmet_authentication_requirements");
});

test("a pushed request asks for it as well", async () => {
  const app = await register(idp);
  const parameters = Object.fromEntries(new URL(app.url({ acr_values: "urn:otp" })).searchParams);
  const { request_uri = "" } = await postForm(app, "par", parameters);
  const query = new URLSearchParams({ client_id: app.credentials.client_id, request_uri });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(`${idp.issuer}/api/v2/oauth/authorize?${query.toString()}`);
  expect((await pick(browser, login, "erin")).page).toBe("factor");
});

describe("default_acr_values of a client (OpenID Connect Registration 2)", () => {
  const grant_types = ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"] as const;
  const asking = (): Promise<App> => register(idp, { grant_types, default_acr_values: ["unknown", "phr", "urn:otp"] });
  const asked = async (url: string): Promise<string | null> => {
    const browser = new Browser(idp.issuer);
    return (await pick(browser, await browser.open(url), "erin")).page;
  };
  const acrOf = (id_token: string): unknown => jwtPart(id_token, 1)["acr"];

  test("count where a request has neither acr_values nor an acr claim", async () => {
    const app = await asking();
    expect(await asked(app.url())).toBe("factor");
    expect(await asked(app.url({ acr_values: "" }))).toBe("factor");
    expect(await asked(app.url({ acr_values: "other" }))).toBe("consent");
    for (const acr of [null, {}, { value: "urn:idp:single-factor" }]) {
      expect(await asked(app.url({ claims: JSON.stringify({ id_token: { acr } }) }))).toBe("consent");
    }
    expect(await asked(app.url({ claims: JSON.stringify({ id_token: { email: null } }) }))).toBe("factor");
    const browser = new Browser(idp.issuer);
    const { claims } = await finish(app, browser, await asErin(app, browser, app.url()));
    expect(claims["acr"]).toBe("urn:otp");
  });

  test("at PAR and of a device too", async () => {
    const app = await asking();
    const parameters = Object.fromEntries(new URL(app.url()).searchParams);
    const { request_uri = "" } = await postForm(app, "par", parameters);
    const query = new URLSearchParams({ client_id: app.credentials.client_id, request_uri });
    expect(await asked(`${idp.issuer}/api/v2/oauth/authorize?${query.toString()}`)).toBe("factor");
    const device = await postForm(app, "device_authorization", { scope: "openid" });
    expect(await asked(device["verification_uri_complete"] ?? "")).toBe("factor");
    const other = await postForm(app, "device_authorization", { scope: "openid", acr_values: "other" });
    expect(await asked(other["verification_uri_complete"] ?? "")).toBe("device");
  });

  test("of tokens and codes that are issued without a browser too", async () => {
    const app = await asking();
    const { client_id: client } = app.credentials;
    const issued = await idp.issueTokens({ user: "erin", client });
    expect(acrOf(issued.id_token)).toBe("urn:otp");
    const { code } = await idp.call("issue.code", { user: "erin", client });
    expect(acrOf((await app.exchange(code)).json.id_token)).toBe("urn:otp");
    const single = await idp.call("issue.tokens", { user: "erin", client, acr: "urn:idp:single-factor" });
    expect(acrOf(single.id_token)).toBe("urn:idp:single-factor");
    await expect(idp.issueTokens({ user: "nora", client })).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining('nora cannot meet acr "phr"'),
    });
  });
});

test("the metadata lists what is reachable", async () => {
  const response = await fetch(`${idp.issuer}/.well-known/openid-configuration`);
  expect(await response.json()).toMatchObject({
    acr_values_supported: ["urn:mfa", "phr", "urn:otp", "urn:idp:single-factor"],
  });
});

test("an automatic sign-in proves what the setting says", async () => {
  // Each sign-in takes a code, and three are good at the beginning of a step.
  clock.pass(30 - ((clock.now() / 1000) % 30));
  const automatic = await serve({
    now: clock.now,
    settings: { login: "auto:alice", consent: "skip", factors: ["pwd", "otp"] },
  });
  await automatic.call("users.edit", { username: "alice", factors: ["otp"] });
  await automatic.call("seed", { settings: { acr } });
  const app = await register(automatic);
  for (let count = 0; count < 3; count += 1) {
    const browser = new Browser(automatic.issuer);
    const { claims } = await finish(app, browser, await browser.open(app.url({ acr_values: "urn:mfa" })));
    expect(claims).toMatchObject({ acr: "urn:mfa", amr: ["pwd", "otp", "mfa"] });
  }
});
