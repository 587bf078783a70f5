import { beforeEach, describe, expect, test } from "vitest";
import { ExpectationError, type Expectation } from "../../src/index.ts";
import { register, serve } from "../helpers/app.ts";
import { callback, paths, post, userinfo } from "../helpers/client.ts";

/** `expect`: whether an app sent the requests that it should. */

const idp = await serve();
beforeEach(() => idp.requests.clear());

const own = { client_id: "demo-app", client_secret: "demo-secret" };
const refuse = (more: Record<string, string> = {}) =>
  post(idp, paths.token, { ...own, grant_type: "refresh_token", ...more });

/** The words of the error. */
const missed = (expectation: Expectation): Promise<string> =>
  idp.expect(expectation).then(
    () => "met",
    (error: unknown) =>
      error instanceof ExpectationError ? error.message.replaceAll(/\b(?:r|[a-z]+-)\d+ /g, "rN ") : String(error),
  );

test("without a count, one request or more must match", async () => {
  expect(await missed({ endpoint: "token" })).toBe("Not met: at least 1 token request. The ledger holds none.");
  await refuse();
  await refuse();
  expect(await idp.expect({ endpoint: "token" })).toEqual({
    ...{ met: true, count: 2, dropped: false, nearest: [] },
    expected: "at least 1 token request",
  });
});

const whyRefused = [
  "      invalid_request: refresh_token is missing",
  "      rule: RFC 6749 6",
  "      fix: send the refresh_token of the last token response",
];

test("the nearest misses, how they differ, and why they were refused", async () => {
  await userinfo(idp, null);
  await refuse();
  await post(idp, paths.token, { ...own, grant_type: "client_credentials" });
  const message = await missed({
    endpoint: "token",
    client: "demo-app",
    grant_type: "authorization_code",
    status: 200,
  });
  expect(message.split("\n")).toEqual([
    "Not met: at least 1 token request with client demo-app and grant_type authorization_code and status 200. The ledger holds none.",
    "Nearest:",
    "  rN  POST token  400  client_credentials  demo-app",
    "      grant_type is client_credentials, not authorization_code",
    "      status is 400, not 200",
    '      unauthorized_client: client "demo-app" may not use grant_type "client_credentials": its grant_types are "authorization_code refresh_token"',
    "      rule: RFC 6749 5.2",
    `      fix: idp clients edit demo-app --set 'grant_types=["authorization_code","refresh_token","client_credentials"]'`,
    "  rN  POST token  400  refresh_token  demo-app",
    "      grant_type is refresh_token, not authorization_code",
    "      status is 400, not 200",
    ...whyRefused,
  ]);
});

test("another endpoint is a near miss only if everything else fits", async () => {
  await refuse();
  expect(await missed({ endpoint: "revoke", client: "demo-app" })).toMatch(/\n {6}endpoint is token, not revoke\n/);
  expect(await missed({ endpoint: "revoke" })).not.toContain("\n");
  expect(await missed({ endpoint: "revoke", client: "demo-app", status: 200 })).not.toContain("\n");
});

test.each<[Expectation, string | null]>([
  [{ endpoint: "token", times: 2 }, null],
  [{ endpoint: "token", times: 1 }, "exactly 1 token request. The ledger holds 2."],
  [{ endpoint: "token", times: 3 }, "exactly 3 token requests. The ledger holds 2."],
  [{ endpoint: "token", at_least: 2 }, null],
  [{ endpoint: "token", at_least: 3 }, "at least 3 token requests. The ledger holds 2."],
  [{ endpoint: "token", never: true }, "no token request. The ledger holds 2."],
  [{ endpoint: "token", times: 0 }, "no token request. The ledger holds 2."],
  [{ endpoint: "userinfo", never: true }, null],
  [{ endpoint: "any", method: "post", times: 2 }, null],
  [{ endpoint: "any", status: "4xx", times: 2 }, null],
])("%j", async (expectation, words) => {
  await refuse();
  await refuse();
  if (words === null) await idp.expect(expectation);
  else expect(await missed(expectation)).toContain(`Not met: ${words}`);
});

test("if there are too many, the matching ones are shown", async () => {
  await refuse();
  await refuse();
  const lines = (await missed({ endpoint: "token", times: 1 })).split("\n");
  expect(lines.slice(1)).toEqual([
    "These match:",
    ...Array.from({ length: 2 }, () => ["  rN  POST token  400  refresh_token  demo-app", ...whyRefused]).flat(),
  ]);
});

describe("parameters", () => {
  test("plain ones, and those with a fingerprint", async () => {
    await refuse({ scope: "openid email", refresh_token: "a token that nobody issued" });
    await idp.expect({ endpoint: "token", param: { scope: "openid email" } });
    await idp.expect({ endpoint: "token", param: { refresh_token: "a token that nobody issued" } });
    const message = await missed({ endpoint: "token", param: { refresh_token: "another one of no use", code: "x" } });
    expect(message).toMatch(/refresh_token is #[\w-]{10}, not #[\w-]{10}\n {6}code is missing, not #[\w-]{10}\n/);
    expect(message).not.toContain("another one of no use");
    expect(await missed({ endpoint: "token", param: { scope: "openid" } })).toContain(
      "scope is openid email, not openid",
    );
  });

  test("one that was sent twice has both values", async () => {
    const twice = `client_id=demo-app&response_type=code&redirect_uri=${callback}&resource=https://a.test&resource=https://b.test`;
    await fetch(`${idp.issuer}${paths.authorize}?${twice}`, { redirect: "manual" });
    for (const resource of ["https://a.test", "https://b.test"]) {
      await idp.expect({ endpoint: "authorize", param: { resource }, times: 1 });
    }
    await idp.expect({ endpoint: "authorize", param: { resource: "https://c.test" }, never: true });
  });
});

test("a CORS preflight is not a request of the app", async () => {
  const app = await register(idp, { token_endpoint_auth_method: "none" });
  const headers = { origin: "http://localhost:3000", "access-control-request-method": "POST" };
  await fetch(idp.issuer + paths.token, { method: "OPTIONS", headers });
  await app.refresh("none");
  await idp.expect({ endpoint: "token", times: 1 });
  await idp.expect({ endpoint: "token", method: "OPTIONS", times: 1 });
});

test("restoring a snapshot does not count as a request of the app", async () => {
  await idp.snapshot("before");
  await idp.restore("before");
  expect((await idp.requests.list({ endpoint: "api" })).map(({ outcome }) => outcome)).toEqual([
    "restored the snapshot before",
  ]);
  await idp.expect({ endpoint: "any", never: true });
});

test("requests before an id do not count", async () => {
  await refuse();
  const since = (await idp.requests.list()).at(-1)?.id ?? "";
  await idp.expect({ endpoint: "token", since, never: true });
  expect(await missed({ endpoint: "token", since })).toContain(`at least 1 token request after ${since}`);
  await refuse();
  await idp.expect({ endpoint: "token", since, times: 1 });
});

describe("where the ledger has dropped requests", () => {
  test("never and an exact count are not claimed, unless only others were dropped", async () => {
    const small = await serve({ settings: { ledger: 2 } });
    const ask = () => fetch(`${small.issuer}${paths.userinfo}`);
    await fetch(small.issuer + paths.token, { method: "POST" });
    await ask();
    const since = (await small.requests.list()).at(-1)?.id ?? "";
    await ask();
    await ask();
    for (const count of [{ never: true }, { times: 0 }]) {
      await expect(small.expect({ endpoint: "token", ...count })).rejects.toThrow(
        /^Not met: no token request. The ledger holds none.\nIt has dropped older requests that could match/,
      );
      await expect(small.expect({ endpoint: "any", client: "demo-app", ...count })).rejects.toThrow(/dropped older/);
    }
    expect((await small.call("expect", { endpoint: "userinfo", times: 2 })).dropped).toBe(true);
    await expect(small.expect({ endpoint: "userinfo", times: 2 })).rejects.toThrow(/dropped older/);
    await small.expect({ endpoint: "userinfo", at_least: 2 });
    await small.expect({ endpoint: "revoke", never: true });
    // What was dropped came before it.
    await small.expect({ endpoint: "token", since, never: true });
    await small.requests.clear();
    await small.expect({ endpoint: "token", never: true });
  });
});

describe("within", () => {
  test("waits until it is met", async () => {
    const waiting = idp.expect({ endpoint: "token", times: 2, within: "20s" });
    await refuse();
    await refuse();
    expect((await waiting).count).toBe(2);
  });

  test("waits for others where the ledger was cleared meanwhile", async () => {
    await refuse();
    const waiting = idp.expect({ endpoint: "token", at_least: 2, within: "20s" });
    await userinfo(idp, null);
    await idp.requests.clear();
    await refuse();
    await refuse();
    expect((await waiting).count).toBe(2);
  });

  test("gives up at once if it can no longer be met", async () => {
    const waiting = missed({ endpoint: "token", never: true, within: 20 });
    await refuse();
    expect(await waiting).toContain("no token request. The ledger holds 1.");
    expect(await missed({ endpoint: "token", never: true, within: 20 })).toContain("The ledger holds 1.");
  });

  test("ends with the time, and with the server", async () => {
    expect(await missed({ endpoint: "token", within: 0.05 })).toContain("The ledger holds none.");
    await idp.expect({ endpoint: "token", never: true, within: 0.05 });
    const other = await serve();
    const waiting = other.call("expect", { endpoint: "token", within: 60 });
    await other.close();
    expect((await waiting).met).toBe(false);
  });
});

test.each<[object, string, string]>([
  [{ endpoint: "tokens" }, "endpoint", "Did you mean token?"],
  [{ endpoint: "token", times: 1.5 }, "times", "must be a whole number"],
  [{ endpoint: "token", at_least: 0 }, "at_least", "must be a whole number of at least 1, not 0"],
  [{ endpoint: "token", times: 1, never: true }, "times", "is given beside never; give only one of them"],
  [{ endpoint: "token", grant_type: "refresh", never: true }, "grant_type", "Did you mean refresh_token?"],
  [{ endpoint: "token", grant_type: "x" }, "grant_type", '"x" is not a grant type; there are authorization_code, '],
  [{ endpoint: "token", grant_type: "urn:ietf:params:oauth:grant-type:device" }, "grant_type", ":device_code?"],
  [{ endpoint: "token", within: "soon" }, "within", "must be seconds, or a duration such as 5s, at most 100 s"],
  [{ endpoint: "token", within: 101 }, "within", "must be seconds, or a duration such as 5s, at most 100 s"],
  [{ endpoint: "token", within: -1 }, "within", "must be seconds, or a duration such as 5s, at most 100 s"],
  [{ endpoint: "token", status: "ok" }, "status", "must be a status"],
  [
    { endpoint: "token", since: "yesterday" },
    "since",
    'must be the id of a request, such as r17, or an ISO 8601 time, not "yesterday"',
  ],
  [{ endpoint: "token", param: ["scope"] }, "param", "must be an object, not a list"],
  [{ endpoint: "token", param: { scope: 1 } }, "param.scope", "must be text, not the number 1"],
  [{ endpoint: "token", param: { client_secret: "x" } }, "param.client_secret", "is never kept"],
  [{ endpoint: "login", param: { password: "x" } }, "param.password", "is never kept"],
  [{}, "endpoint", "is missing"],
  [{ endpoint: "token", grantType: "x" }, "grantType", "Did you mean grant_type?"],
])("refused: %j", async (body, path, message) => {
  const response = await fetch(`${idp.issuer}/_idp/api/expect`, {
    method: "POST",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(422);
  const { problems } = (await response.json()) as { problems: unknown };
  expect(problems).toHaveLength(1);
  expect(problems).toMatchObject([{ path, message: expect.stringContaining(message) as unknown }]);
});
