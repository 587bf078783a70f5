import { expect, onTestFinished, test } from "vitest";
import { createIdp, OperationError, type IdpOptions, type OnTokenInput } from "../../src/index.ts";
import { jwtPart, post } from "../helpers/client.ts";

/** `createIdp({ onToken })`: claims that a program adds to tokens. */

async function serving(options: IdpOptions) {
  const idp = await createIdp(options);
  onTestFinished(() => idp.close());
  return idp;
}
const whom = { user: "alice", client: "demo-app" };
const own = { client_id: "demo-app", client_secret: "demo-secret" };

test("it is told the kind, client and user of each token, and its claims are added beside those of the user", async () => {
  const told: OnTokenInput[] = [];
  const idp = await serving({
    onToken: (token) => {
      told.push(token);
      return Promise.resolve({ tenant: `${token.kind} of ${token.user ?? token.client}`, gone: undefined });
    },
  });
  const tokens = await idp.issueTokens(whom);
  expect(jwtPart(tokens.access_token, 1)).toMatchObject({ tenant: "access of alice", sub: expect.any(String) });
  expect(jwtPart(tokens.id_token, 1)).toMatchObject({ tenant: "id of alice" });
  expect(jwtPart(tokens.id_token, 1)).not.toHaveProperty("gone");
  expect(told).toEqual([
    { kind: "access", ...whom },
    { kind: "id", ...whom },
  ]);
  const service = { client_id: "demo-service", client_secret: "demo-service-secret" };
  const { json } = await post(idp, "/api/v2/oauth/token", { grant_type: "client_credentials", ...service });
  expect(jwtPart(json.access_token, 1)).toMatchObject({ tenant: "access of demo-service" });
});

test.each<[string, IdpOptions["onToken"], RegExp]>([
  [
    "throws",
    () => {
      throw new Error("no tenant for alice");
    },
    /onToken: no tenant for alice/,
  ],
  [
    "returns a reserved name",
    () => ({ sub: "bob" }),
    /onToken: it returned the claim "sub", which only the server sets/,
  ],
  ["returns email", () => ({ email: "a@b.test" }), /onToken: it returned the claim "email"/],
  ["returns a list", () => [] as never, /onToken: it must return an object of claims/],
  ["returns a date", () => new Date(0) as never, /onToken: it must return an object of claims/],
  ["returns a function", () => (() => ({})) as never, /onToken: it must return an object of claims/],
  [
    "returns a reserved name as JSON",
    () => ({ toJSON: () => ({ sub: "bob" }) }),
    /onToken: it returned the claim "sub"/,
  ],
])("if it %s: 500, nothing is issued or used up, and the ledger names it", async (_what, fails, message) => {
  let isBroken = true;
  const idp = await serving({ onToken: (token) => (isBroken ? fails?.(token) : { ok: true }) });
  isBroken = false;
  const { refresh_token = "" } = await idp.issueTokens(whom);
  const { code, redirect_uri } = await idp.issueCode(whom);
  isBroken = true;
  const redeem = () =>
    post(idp, "/api/v2/oauth/token", { grant_type: "authorization_code", code, redirect_uri, ...own });
  const refresh = () => post(idp, "/api/v2/oauth/token", { grant_type: "refresh_token", refresh_token, ...own });
  for (const send of [redeem, refresh]) {
    const refused = await send();
    expect([refused.status, JSON.stringify(refused.json)]).toEqual([
      500,
      expect.not.stringMatching(/tenant|onToken|sub/),
    ]);
  }
  const ledger = await idp.requests.list({ endpoint: "token" });
  const record = { error: expect.stringMatching(message), rule: null, fix: expect.stringContaining("onToken") };
  expect(ledger).toMatchObject([record, record]);
  const named = { code: "refused", message: expect.stringMatching(message), hint: { text: expect.any(String) } };
  const thrown: unknown = await idp.issueTokens(whom).catch((error: unknown) => error);
  expect(thrown).toBeInstanceOf(OperationError);
  expect(thrown).toMatchObject(named);
  // The control API is for the operator, who may know what failed.
  const api = await fetch(`${idp.issuer}/_idp/api/issue/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(whom),
  });
  expect([api.status, ((await api.json()) as Record<string, unknown>)["error_description"]]).toEqual([
    500,
    expect.stringMatching(message),
  ]);
  isBroken = false;
  expect((await redeem()).status).toBe(200);
  expect((await refresh()).status).toBe(200);
});

test("it must be a function, and other issuers have it too", async () => {
  await expect(createIdp({ onToken: "x" as never })).rejects.toThrow(/onToken must be a function/);
  const idp = await serving({ onToken: () => ({ tenant: "acme" }) });
  const other = await idp.issuers.add("other");
  expect(jwtPart((await other.issueTokens(whom)).access_token, 1)).toMatchObject({ tenant: "acme" });
});
