import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeEach, expect, test } from "vitest";
import { enroll, register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { post } from "../helpers/client.ts";

/**
 * The response time reveals neither who exists nor how much of a secret was right. A clock cannot measure that in a test: what takes
 * the time is counted instead.
 */

const { scrypt, timingSafeEqual } = crypto;
/** What each hash cost. */
let hashes: { readonly N?: number }[] = [];
let compared: [given: number, expected: number][] = [];
/** The bytes of two hashes. */
const digests = [32, 32];
crypto.scrypt = ((...parameters: Parameters<typeof scrypt>) => {
  const [, , , { N, r, p }] = parameters;
  hashes.push({ N: N ?? 0, r, p } as { readonly N: number });
  scrypt(...parameters);
}) as typeof scrypt;
crypto.timingSafeEqual = (a, b) => {
  compared.push([a.byteLength, b.byteLength]);
  return timingSafeEqual(a, b);
};
syncBuiltinESMExports();
afterAll(() => {
  Object.assign(crypto, { scrypt, timingSafeEqual });
  syncBuiltinESMExports();
});

const adminToken = "an-admin-token-of-these-tests";
const idp = await underAttack({ adminToken, settings: { login: "password" } });
const app = await register(idp);
await enroll(idp, { username: "without-password" });
// Hashes the passwords of the demo: that of bob stays the one of its fixture.
await idp.snapshot("hashed");
for (const name of ["alice", "carol", "dave"]) await idp.call("users.edit", { username: name, password: name });
beforeEach(() => {
  hashes = [];
  compared = [];
});

test.each([
  "alice",
  "alice@example.com",
  "nobody",
  "nobody@example.com",
  "without-password",
  "carol",
  "dave",
  "",
  "__proto__",
  "bob",
])(
  "a wrong password of %j costs one hash of each cost, like any other, and one comparison of hashes",
  async (username) => {
    const browser = new Browser(idp.issuer);
    const page = await browser.open(app.url());
    compared = [];
    const { status, state } = await browser.press(page, "login-submit", { username, password: "wrong" });
    const costs = hashes.toSorted((a, b) => (a.N ?? 0) - (b.N ?? 0));
    const each = [2 ** 9, 2 ** 14].map((N) => ({ N, r: 8, p: 1 }));
    expect([status, state, costs]).toEqual([401, "error-credentials", each]);
    // The csrf value, in a transaction that runs twice here, and the password.
    expect(compared).toEqual([digests, digests, digests]);
  },
);

const secret = app.credentials.client_secret ?? "";
test.each(["", "x", secret.slice(0, -1), `${secret}x`, `x${secret.slice(1)}`, "x".repeat(10_000), secret])(
  "a client secret is compared as a digest, whatever its length: %#",
  async (given) => {
    const sent = { token: "x", client_id: app.credentials.client_id, client_secret: given };
    const { status } = await post(idp, "/api/v2/oauth/introspect", sent);
    expect(status).toBe(given === secret ? 200 : 401);
    // An empty one counts as not sent.
    expect(compared).toEqual(given === "" ? [] : [digests]);
  },
);

test.each(["x", adminToken.slice(0, -1), `${adminToken}x`, adminToken])(
  "the admin token is compared as a digest: %#",
  async (given) => {
    const { status } = await fetch(`${idp.issuer}/_idp/api/users`, { headers: { authorization: `Bearer ${given}` } });
    expect(status).toBe(given === adminToken ? 200 : 401);
    expect(compared).toEqual([digests]);
  },
);

test("the csrf value of a form is compared as a digest", async () => {
  const browser = new Browser(idp.issuer);
  const page = await browser.open(app.url());
  compared = [];
  expect((await browser.press(page, "login-submit", { csrf: "x" })).status).toBe(403);
  // Transactions run twice here.
  expect(compared).toEqual([digests, digests]);
});
