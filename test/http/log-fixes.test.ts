import { expect, onTestFinished, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { createIdp, type RequestEvent } from "../../src/index.ts";

/** What the log says below a refusal: the reason, and the command or the words that fix it. */

async function logging() {
  const events: RequestEvent[] = [];
  const idp = await createIdp({ port: 0, onRequest: (event) => events.push(event) });
  onTestFinished(() => idp.close());
  const token = (body: Record<string, string>) =>
    fetch(`${idp.issuer}/api/v2/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({ client_id: "demo-app", client_secret: "demo-secret", ...body }),
    });
  const code = async (more: object = {}) => (await idp.issueCode({ user: "alice", client: "demo-app", ...more })).code;
  const exchange = async (given: string, more: Record<string, string> = {}) =>
    token({ grant_type: "authorization_code", code: given, redirect_uri: "http://localhost:3000/callback", ...more });
  return { idp, events, token, code, exchange };
}

test("a suspended user: the command that restores them, at UserInfo, code and refresh", async () => {
  const { idp, events, token, code, exchange } = await logging();
  const given = await code();
  const tokens = await idp.issueTokens({ user: "alice", client: "demo-app" });
  await idp.call("users.suspend", { username: "alice" });
  await fetch(`${idp.issuer}/api/v2/oauth/userinfo`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
  await exchange(given);
  await token({ grant_type: "refresh_token", refresh_token: tokens.refresh_token ?? "" });
  expect(events.map(({ error, fix }) => ({ error, fix }))).toEqual([
    { error: 'account_suspended: user "alice" is suspended', fix: "idp users restore alice" },
    { error: "invalid_grant: The user's account is suspended", fix: "idp users restore alice" },
    { error: expect.stringMatching(/^invalid_grant: .* is suspended$/), fix: "idp users restore alice" },
  ]);
});

test("a failed sign-in with a password: what was wrong, in the log and the ledger, and not on the page", async () => {
  const { idp, events } = await logging();
  const users = [
    { username: "erin", email: "team@example.com" },
    { username: "frank", email: "team@example.com" },
  ];
  await idp.call("seed", { users });
  const query = new URLSearchParams({
    response_type: "code",
    client_id: "demo-app",
    redirect_uri: "http://localhost:3000/callback",
  });
  const browser = new Browser(idp.issuer);
  const page = await browser.open(`${idp.issuer}/api/v2/oauth/authorize?${query}`);
  const shown: string[] = [];
  for (const username of ["alice", "nobody", "team@example.com", "erin"]) {
    const password = "wrong";
    shown.push((await browser.press(page, "login-submit", { username, password })).state);
  }
  const errors = [
    "wrong password of alice",
    "there is no user of this name",
    "2 users have this e-mail address",
    "erin has no password",
  ];
  expect(new Set(shown)).toEqual(new Set(["error-credentials"]));
  expect(events.flatMap(({ error }) => error ?? [])).toEqual(errors);
  const kept = await idp.call("requests.list", { endpoint: "login" });
  expect(kept.flatMap(({ error }) => error ?? [])).toEqual(errors);
});

test("fixtures with one e-mail address for two users are refused where the flag turns passwords on", async () => {
  const users = ["erin", "frank"].map((username) => ({ username, email: "team@example.com" }));
  const begin = (login: string) => createIdp({ fixtures: { users }, settings: { login } });
  await expect(begin("password")).rejects.toThrow(/users\[1\].email "team@example.com" is taken by users\[0\]/);
  await (await begin("picker")).close();
});

test("a token without a scope is logged as such, not as one for an empty scope", async () => {
  const { events, token } = await logging();
  const service = { client_id: "demo-service", client_secret: "demo-service-secret" };
  await token({ grant_type: "client_credentials", ...service });
  expect(events.map(({ outcome }) => outcome)).toEqual(["client_credentials: access"]);
});

test("a code used twice, and a verifier of another sign-in: what to do, in words", async () => {
  const { events, code, exchange } = await logging();
  const twice = await code();
  await exchange(twice);
  await exchange(twice);
  const bound = await code({ code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" });
  await exchange(bound, { code_verifier: "a".repeat(43) });
  expect(events.map(({ fix }) => fix)).toEqual([
    null,
    expect.stringMatching(/^exchange each code once/),
    expect.stringMatching(/^keep the verifier of each sign-in/),
  ]);
});

test("parallel refreshes that revoke a family: the setting that lets them pass", async () => {
  const { idp, events, token } = await logging();
  const { refresh_token = "" } = await idp.issueTokens({ user: "alice", client: "demo-app" });
  await Promise.all([1, 2].map(() => token({ grant_type: "refresh_token", refresh_token })));
  const [refused] = events.filter(({ status }) => status === 400);
  expect(refused?.error).toMatch(/^invalid_grant: refresh_token was already rotated/);
  expect(refused?.fix).toMatch(/set refresh_grace: .*idp start --refresh-grace 10$/);
});

test("an address that is not registered: what was sent and what is registered", async () => {
  const { idp, events } = await logging();
  const query = "response_type=code&client_id=demo-app&redirect_uri=http://localhost:3000/callback/";
  await fetch(`${idp.issuer}/api/v2/oauth/authorize?${query}`);
  expect(events.map(({ mismatch }) => mismatch)).toEqual([
    {
      parameter: "redirect_uri",
      sent: "http://localhost:3000/callback/",
      registered: ["http://localhost:3000/callback"],
    },
  ]);
});
