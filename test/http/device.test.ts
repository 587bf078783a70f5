import { describe, expect, test } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { jwtPart, paths, pick, post, userinfo, type Answer, type Parameters } from "../helpers/client.ts";
import { wordsOf } from "../helpers/html.ts";
import { testClock } from "../helpers/clock.ts";

/** Device authorization (RFC 8628): the device, and the page for its user. */

const clock = testClock();
const idp = await serve({ now: clock.now, settings: { session_ttl: 1_000_000 } });
const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
const device = (metadata = {}) =>
  register(idp, { grant_types: [grant_type, "refresh_token"], redirect_uris: [], ...metadata });
const app = await device({ client_name: "Television" });

interface Begun {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly answer: Answer;
}
async function begin(change: Record<string, string> = {}, by: App = app): Promise<Begun> {
  const { client_id, client_secret } = by.credentials;
  const sent = { client_id, ...(client_secret !== null && { client_secret }), scope: "openid email", ...change };
  const answer = await post(
    idp,
    "/api/v2/oauth/device_authorization",
    {},
    { headers: {}, body: new URLSearchParams(sent) },
  );
  return { deviceCode: String(answer.json["device_code"]), userCode: String(answer.json["user_code"]), answer };
}
const poll = ({ deviceCode }: Begun, change: Parameters = {}, by: App = app) =>
  post(idp, paths.token, { grant_type, device_code: deviceCode, ...by.credentials, ...change });

async function signedIn(user = "alice"): Promise<Browser> {
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), user);
  return browser;
}
const shown = (browser: Browser, { userCode }: Begun): Promise<Visit> => browser.open(`/device?user_code=${userCode}`);
async function decide(begun: Begun, button = "device-allow", browser?: Browser): Promise<Visit> {
  const person = browser ?? (await signedIn());
  return person.press(await shown(person, begun), button);
}

describe("a client that asks with client_id alone", () => {
  const asked = async (metadata = {}) => {
    const { client_id } = (await device(metadata)).credentials;
    return begin({}, { ...app, credentials: { client_id, client_secret: null } });
  };

  test("is told what to add, also in the terms of Go's x/oauth2", async () => {
    const { answer } = await asked();
    expect(answer.status).toBe(401);
    expect(answer.json.error).toBe("invalid_client");
    expect(answer.json.error_description).toContain("; the request used none: add client_secret to the body.");
    expect(answer.json.error_description).toContain(
      "config.DeviceAuth(ctx, oauth2.SetAuthURLParam('client_secret', config.ClientSecret))",
    );
    const basic = (await asked({ token_endpoint_auth_method: "client_secret_basic" })).answer;
    expect(basic.json.error_description).toContain("register token_endpoint_auth_method 'client_secret_post'");
  });

  test("is not told of secrets if it has a key, and passes if it is public", async () => {
    const keyed = await asked({ token_endpoint_auth_method: "client_secret_jwt" });
    expect(keyed.answer.json.error_description).not.toContain("oauth2");
    expect((await asked({ token_endpoint_auth_method: "none" })).answer.status).toBe(200);
  });
});

describe("the device", () => {
  test("gets a code to keep, a code to show, and where to type it", async () => {
    const { answer } = await begin();
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const code = String(answer.json["user_code"]);
    expect(answer.json).toEqual({
      device_code: expect.stringMatching(/^[\w-]{43}$/) as string,
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/) as string,
      verification_uri: `${idp.issuer}/device`,
      verification_uri_complete: `${idp.issuer}/device?user_code=${code}`,
      expires_in: 600,
      interval: 5,
    });
  });

  test("waits, and gets the tokens once its user has allowed", async () => {
    const begun = await begin();
    const waits = await poll(begun);
    expect([waits.status, waits.json.error]).toEqual([400, "authorization_pending"]);
    await decide(begun);
    const { status, json } = await poll(begun);
    expect([status, json.scope, json["token_type"]]).toEqual([200, "openid email", "Bearer"]);
    expect(jwtPart(json.id_token, 1)).toMatchObject({ sub: "7123456789012345678", aud: app.credentials.client_id });
    expect(jwtPart(json.id_token, 1)).not.toHaveProperty("nonce");
    expect((await userinfo(idp, json.access_token)).json["user"]).toHaveProperty("email");
    expect((await app.refresh(json.refresh_token)).status).toBe(200);
  });

  test("gets access_denied after its user denied", async () => {
    const begun = await begin();
    await decide(begun, "device-deny");
    const { status, json } = await poll(begun);
    expect([status, json.error]).toEqual([400, "access_denied"]);
  });

  test("polls too often: slow_down, by 5 seconds each time", async () => {
    const begun = await begin();
    expect((await poll(begun)).json.error).toBe("authorization_pending");
    // A timer is not exact: a second early is in time.
    clock.pass(4);
    expect((await poll(begun)).json.error).toBe("authorization_pending");
    clock.pass(3);
    expect((await poll(begun)).json).toMatchObject({
      error: "slow_down",
      error_description: expect.stringContaining("10 s") as string,
    });
    clock.pass(8);
    expect((await poll(begun)).json.error).toBe("slow_down");
    clock.pass(15);
    expect((await poll(begun)).json.error).toBe("authorization_pending");
  });

  test("polls at its interval: never slow_down", async () => {
    const begun = await begin();
    for (let times = 0; times < 4; times += 1) {
      expect((await poll(begun)).json.error).toBe("authorization_pending");
      clock.pass(5);
    }
  });

  test("its codes expire after ten minutes, to the second, for both", async () => {
    const [lasts, ends] = [await begin(), await begin()];
    const browser = await signedIn();
    clock.pass(599);
    await decide(lasts, "device-allow", browser);
    expect((await poll(lasts)).status).toBe(200);
    clock.pass(1);
    expect((await poll(ends)).json.error).toBe("expired_token");
    const late = await shown(browser, ends);
    expect([late.status, late.state]).toEqual([400, "expired"]);
    expect(wordsOf(late.body)).toContain("This code has expired.");
  });

  test("a code counts once, also of twenty at the same moment", async () => {
    const begun = await begin();
    await decide(begun);
    const answers = await Promise.all(Array.from({ length: 20 }, () => poll(begun)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await poll(begun)).json.error).toBe("invalid_grant");
  });

  test("a public client needs its client_id alone", async () => {
    const tv = await device({ token_endpoint_auth_method: "none" });
    const begun = await begin({}, tv);
    await decide(begun);
    expect((await poll(begun, {}, tv)).status).toBe(200);
  });
});

describe("refusals", () => {
  test.each([
    ["an unknown scope", { scope: "nonsense" }, 400, "invalid_scope"],
    ["a wrong secret", { client_secret: "wrong" }, 401, "invalid_client"],
    ["a resource that is no URI", { resource: "x" }, 400, "invalid_target"],
  ])("to begin with %s", async (_name, change: Record<string, string>, status, error) => {
    const { answer } = await begin(change);
    expect([answer.status, answer.json.error]).toEqual([status, error]);
  });

  test("to begin, and to poll, as a client without the grant", async () => {
    const other = await register(idp);
    expect((await begin({}, other)).answer.json.error).toBe("unauthorized_client");
    expect((await poll(await begin(), {}, other)).json.error).toBe("unauthorized_client");
  });

  test("to poll without a code, with a made-up one, with another client's", async () => {
    const begun = await begin();
    expect((await poll(begun, { device_code: null })).json.error).toBe("invalid_request");
    // RFC 6749 5.2; `expired_token` is for what expired (RFC 8628 3.5).
    expect((await poll(begun, { device_code: "made-up" })).json.error).toBe("invalid_grant");
    expect((await poll(begun, {}, await device())).json.error).toBe("invalid_grant");
    await decide(begun);
    expect((await poll(begun)).status).toBe(200);
  });

  test("the grant was revoked, or the user suspended, before the device asked", async () => {
    const revoked = await begin();
    await decide(revoked);
    await idp.revoke({ client: app.credentials.client_id });
    expect((await poll(revoked)).json.error_description).toMatch(/Access revoked by user/);
    const user = await enroll(idp);
    const suspended = await begin();
    await decide(suspended, "device-allow", await signedIn(user));
    await idp.call("users.suspend", { username: user });
    expect((await poll(suspended)).json.error_description).toMatch(/account is suspended/);
  });
});

describe("the page for its user", () => {
  test("asks to sign in first, and comes back with the code", async () => {
    const begun = await begin();
    const browser = new Browser(idp.issuer);
    const login = await shown(browser, begun);
    expect(login.page).toBe("login");
    const confirm = await pick(browser, login, "alice");
    expect([confirm.page, confirm.state]).toEqual(["device", "confirm"]);
    expect(confirm.body).toContain(begun.userCode);
    expect(confirm.body).toContain("Television");
  });

  test.each([
    ["as shown", (code: string) => code],
    ["in small letters", (code: string) => code.toLowerCase()],
    ["without the dash", (code: string) => code.replace("-", "")],
    ["with spaces and dots", (code: string) => ` ${code.replaceAll(/./g, "$& ")}. `],
  ])("a code may be typed %s", async (_name, typed) => {
    const begun = await begin();
    const browser = await signedIn();
    const enter = await browser.open("/device");
    expect([enter.page, enter.state]).toEqual(["device", "enter"]);
    const confirm = await browser.press(enter, "device-submit", { user_code: typed(begun.userCode) });
    expect(confirm.state).toBe("confirm");
    expect((await browser.press(confirm, "device-allow")).state).toBe("done");
    expect((await poll(begun)).status).toBe(200);
  });

  test("an unknown code: the page says so, 400, and another can be typed", async () => {
    const browser = await signedIn();
    for (const typed of ["BBBB-BBBB", "x", "%00", "<script>alert(1)"]) {
      const wrong = await browser.press(await browser.open("/device"), "device-submit", { user_code: typed });
      expect([wrong.status, wrong.page, wrong.state]).toEqual([400, "device", "invalid"]);
      expect(wrong.body).not.toContain("<script>alert");
    }
  });

  test("a code that was decided on: the page says so, and the decision stays", async () => {
    const begun = await begin();
    const browser = await signedIn();
    const confirm = await shown(browser, begun);
    expect((await browser.press(confirm, "device-deny")).state).toBe("denied");
    const again = await browser.press(confirm, "device-allow");
    expect([again.status, again.state]).toEqual([400, "used"]);
    expect((await poll(begun)).json.error).toBe("access_denied");
  });

  test("allowing records the grant, which can be revoked", async () => {
    const own = await device();
    const begun = await begin({}, own);
    await decide(begun);
    const client = own.credentials.client_id;
    expect(await idp.call("grants.list", { client })).toMatchObject([
      { user: "alice", scope: "openid email", status: "active" },
    ]);
    const { json } = await poll(begun, {}, own);
    await idp.revoke({ client });
    expect((await userinfo(idp, json.access_token)).json.error).toBe("access_revoked");
  });
});
