import { expect, test } from "vitest";
import { heldOf } from "../../src/core/testing/held.ts";
import type { Exchange } from "../../src/core/testing/record.ts";
import { createLedger } from "../../src/core/testing/requests.ts";

/** A record is made for the first who looks; what is held until then. */

const exchange = (endpoint: string, more: Partial<Exchange>): Exchange => ({
  ...{ endpoint, method: "POST", path: `/${endpoint}`, url: `/${endpoint}`, time: 0, clock: null, ms: 1 },
  ...{ status: 200, isSent: true, body: undefined, authorization: undefined, dpop: undefined, notes: {} },
  ...more,
});

const login = exchange("login", {
  ...{ url: "/interaction/abc/login", status: 303 },
  body: { username: "alice", password: "the-password", csrf: "the-csrf" },
  notes: { user: "alice", outcome: "signed in", answer: { location: "/interaction/abc/consent" } },
});
const consent = exchange("consent", {
  ...{ method: "GET", url: "/interaction/abc/consent" },
  notes: { client: "app", outcome: "consent page" },
});
const token = exchange("token", {
  authorization: "Basic dGhlLXNlY3JldA==",
  body: { grant_type: "authorization_code", code: "the-code", client_id: "app", client_secret: "the-secret" },
  notes: { client: "app", answer: { json: '{"access_token":"the-token","token_type":"Bearer","scope":"openid"}' } },
});
const userinfo = exchange("userinfo", { method: "GET", authorization: "Bearer the-token" });
const exchanges = [login, consent, token, userinfo];

/** The flow of a record is the place of the first one that has it. */
const withoutIds = (ledger: ReturnType<typeof createLedger>) => {
  const records = ledger.list();
  return records.map(({ id: _, ...record }) => ({
    ...record,
    flow: records.findIndex(({ flow }) => flow === record.flow),
  }));
};

test("a record that is made later equals one that is made at once", () => {
  const [atOnce, later] = [createLedger(() => 10, "key"), createLedger(() => 10, "key")];
  atOnce.subscribe(() => undefined);
  for (const one of exchanges) {
    atOnce.add(one);
    later.add(one);
  }
  expect(withoutIds(later)).toEqual(withoutIds(atOnce));
  expect(withoutIds(later).map(({ flow }) => flow)).toEqual([0, 0, 2, 2]);
});

test("secrets are not held", () => {
  const held = exchanges.map((one) => JSON.stringify(heldOf(one)));
  expect(held.join()).toContain("the-code");
  for (const secret of ["the-password", "the-csrf", "the-secret", "dGhlLXNlY3JldA"]) {
    expect(held.join()).not.toContain(secret);
  }
});

test.each([
  ["a refusal", { status: 400, notes: { error: "invalid_grant" } }],
  ["a secret in the address", { url: "/authorize?client_secret=the-secret" }],
  ["a secret in the response", { endpoint: "register" }],
  ["a secret in a location", { notes: { answer: { location: "/?client_secret=the-secret" } } }],
  ["a secret deep in the body", { body: { more: { password: "the-password" } } }],
  ["a long body", { body: { state: "x".repeat(9000) } }],
])("%s is not held: the record is made at once", (_, more) => {
  expect(heldOf(exchange("token", more))).toBeNull();
});

test("a listener is handed each request that comes from then on", () => {
  const ledger = createLedger(() => 1, "key");
  ledger.add(login);
  const heard: string[] = [];
  ledger.subscribe(({ endpoint }) => heard.push(endpoint));
  ledger.add(consent);
  ledger.add(token);
  expect(heard).toEqual(["consent", "token"]);
  expect(ledger.list().map(({ endpoint }) => endpoint)).toEqual(["token"]);
});
