import { expect, test } from "vitest";
import { createMerged } from "../../src/core/testing/ledger/merged.ts";
import type { Exchange } from "../../src/core/testing/ledger/ledger.ts";
import { createLedger } from "../../src/core/testing/ledger/requests.ts";

/** The ledger tells whoever listens. */

const exchange = (endpoint: string, more: Partial<Exchange>): Exchange => ({
  ...{ endpoint, method: "POST", path: `/${endpoint}`, url: `/${endpoint}`, time: 0, clock: null, ms: 1 },
  ...{ status: 200, isSent: true, body: undefined, authorization: undefined, dpop: undefined, notes: {} },
  ...more,
});

const login = exchange("login", {
  ...{ url: "/interaction/abc/login", status: 303 },
  body: { username: "alice", password: "the-password", csrf: "the-csrf" },
  notes: { user: "alice", outcome: { kind: "signed-in" }, answer: { location: "/interaction/abc/consent" } },
});
const consent = exchange("consent", {
  ...{ method: "GET", url: "/interaction/abc/consent" },
  notes: { client: "app", outcome: { kind: "consent-page" } },
});
const token = exchange("token", {
  authorization: "Basic dGhlLXNlY3JldA==",
  body: { grant_type: "authorization_code", code: "the-code", client_id: "app", client_secret: "the-secret" },
  notes: { client: "app", answer: { json: '{"access_token":"the-token","token_type":"Bearer","scope":"openid"}' } },
});
test("a listener is handed each request that comes from then on", () => {
  const ledger = createLedger({ size: () => 1, key: "key", isScope: () => false, real: () => 0 });
  ledger.add(login);
  const heard: string[] = [];
  ledger.subscribe(({ endpoint }) => heard.push(endpoint));
  ledger.add(consent);
  ledger.add(token);
  expect(heard).toEqual(["consent", "token"]);
  expect(ledger.list().map(({ endpoint }) => endpoint)).toEqual(["token"]);
});

test("a sign-in is one, though a clock puts the use of its token before the request that issued it", () => {
  const merged = createMerged(() => 100);
  const entry = (at: number, id: string, flow: string, names: string[]) => ({
    ...{ id, at, endpoint: "token" },
    content: JSON.stringify({
      record: { id, flow },
      links: { isBeginning: id === "c-1", here: `again ${id}`, names, began: [], ended: [], next: null },
    }),
  });
  merged.take({
    ...{ place: 3, cleared: 0, lost: 0, now: 0, isAll: true, dropped: {} },
    entries: [
      entry(10, "c-1", "fc1", ["page 1", "code"]),
      entry(20, "a-1", "fa1", ["family"]),
      entry(21, "c-2", "fc1", ["code", "family"]),
    ],
  });
  expect(merged.list().map(({ id, flow }) => [id, flow])).toEqual([
    ["c-1", "fc1"],
    ["a-1", "fc1"],
    ["c-2", "fc1"],
  ]);
  expect(merged.flowNamed("fa1")).toBe("fc1");
});
