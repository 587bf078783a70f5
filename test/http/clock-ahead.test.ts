import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { paths, pick, post, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { newProofKey } from "../helpers/dpop.ts";

/** The clock is far ahead, so that what lives shorter is hidden, and goes back. */

const base = testClock();
const idp = await serve({ now: base.now });
const app = await register(idp);

/** A client's assertion, made now and for a minute (RFC 7523 3). */
async function assertionOf(id: string, secret: string): Promise<string> {
  const iat = Math.floor(base.now() / 1000);
  return new SignJWT({ iss: id, sub: id, aud: idp.issuer, iat, exp: iat + 60, jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(secret));
}

/** Far ahead, with enough activity for every expired record to be removed if it may be; and back again. */
async function aheadAndBack(): Promise<void> {
  await idp.clock.advance("2d");
  for (let i = 0; i < 20; i++) await idp.call("users.edit", { username: "bob", displayName: `B${i}` });
  await idp.clock.reset();
}

test("a client assertion and a DPoP proof that were used pass no second time after it was far ahead", async () => {
  const secret = "a secret of 32 bytes or more, for HS256 and the like";
  const method = { token_endpoint_auth_method: "client_secret_jwt", client_secret: secret } as const;
  const service = await register(idp, { ...method, grant_types: ["client_credentials"] });
  const id = service.credentials.client_id;
  const key = await newProofKey("ES256", base.now);
  const proof = async () => key.prove(idp.issuer + paths.token);
  const ask = async (assertion: string, dpop: string) => {
    const form = {
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
      client_id: null,
      client_secret: null,
    };
    const { status, json } = await post(idp, paths.token, form, {
      headers: { "content-type": "application/json", dpop },
    });
    return status === 200 ? "passed" : json.error_description;
  };
  const [usedAssertion, usedProof] = [await assertionOf(id, secret), await proof()];
  expect(await ask(usedAssertion, usedProof)).toBe("passed");
  await aheadAndBack();
  expect(await ask(usedAssertion, await proof())).toContain("its 'jti' was used before");
  expect(await ask(await assertionOf(id, secret), usedProof)).toContain("used before");
  expect(await ask(await assertionOf(id, secret), await proof())).toBe("passed");
});

/** A browser in which alice is signed in. */
async function signedIn(user = "alice"): Promise<Browser> {
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), user);
  expect((await browser.open("/account")).page).toBe("account");
  return browser;
}

const grantOf = (user: string) => idp.issueGrant({ user, client: app.credentials.client_id, scope: "openid" });

test.each([
  ["a ban, lifted later", (user: string) => idp.call("users.ban", { username: user })],
  ["expire for a user", (user: string) => idp.expire({ user, sessions: true })],
  ["expire for a client", () => idp.expire({ client: app.credentials.client_id, sessions: true })],
  ["the end of the user's sessions", (user: string) => idp.call("sessions.end", { user })],
  ["signing out", (_user: string, browser: Browser) => browser.open("/api/v2/oauth/logout")],
])("a session that is hidden is ended by %s", async (_what, end) => {
  await grantOf("bob");
  const [browser, other] = [await signedIn("bob"), await signedIn("alice")];
  await idp.clock.advance("2d");
  await end("bob", browser);
  await idp.clock.reset();
  await idp.call("users.restore", { username: "bob" });
  expect((await browser.open("/account")).page).toBe("login");
  expect((await other.open("/account")).page).toBe("account");
});

test("a code that is hidden is ended by expire", async () => {
  const { code } = await idp.issueCode({ user: "alice", client: app.credentials.client_id });
  await idp.clock.advance("2d");
  expect(await idp.expire({ user: "alice", codes: true })).toMatchObject({ codes: 0 });
  await idp.clock.reset();
  expect((await app.exchange(code)).json.error).toBe("invalid_grant");
});

test("an expired token is revoked too", async () => {
  const tokens = await idp.issueTokens({ user: "alice", client: app.credentials.client_id });
  await idp.clock.advance("30d");
  for (const token of [tokens.access_token, tokens.refresh_token ?? ""]) {
    expect((await post(idp, paths.revoke, { token, ...app.credentials })).status).toBe(200);
  }
  await idp.clock.reset();
  expect((await userinfo(idp, tokens.access_token)).status).toBe(401);
  expect((await app.refresh(tokens.refresh_token ?? "")).json.error).toBe("invalid_grant");
});

test("an export has the records that are hidden, and none of those that expired in the real time", async () => {
  const { sessions: before } = (await idp.call("export", {})) as Record<string, object[]>;
  await signedIn();
  const { access_token: token } = await idp.issueTokens({ user: "alice", client: app.credentials.client_id });
  await idp.call("token.revoke", { token });
  const real = await idp.call("export", {});
  await idp.clock.advance("30d");
  expect(await idp.call("export", {})).toEqual(real);
  expect(real).toMatchObject({ sessions: { length: (before?.length ?? 0) + 1 } });
});
