import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { afterAll, beforeEach, expect, test } from "vitest";
import type { ScimStatus } from "../../src/core/scim/status.ts";
import type { TokenResponse } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { callback, paths, signIn } from "../helpers/client.ts";
import { scimServer } from "../helpers/scim-server.ts";

/** `users leave`: every app learns it, in each way that it has; `users restore` undoes it. */

interface Call {
  readonly url: string;
  readonly text: string;
  readonly authorization: string | undefined;
}
let calls: Call[] = [];
let status = 204;
const receiver = createServer((req, res) => {
  let text = "";
  req.on("data", (chunk) => (text += String(chunk)));
  req.on("end", () => {
    calls.push({ url: req.url ?? "", text, authorization: req.headers.authorization });
    // A refusal repeats the token.
    const detail = { error: "invalid_request", error_description: `refused ${req.headers.authorization ?? ""}` };
    res.writeHead(status).end(status === 204 ? undefined : JSON.stringify(detail));
  });
});
await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
afterAll(() => receiver.close());
beforeEach(() => {
  calls = [];
  status = 204;
});

async function world() {
  const app = await scimServer();
  const idp = await serve({
    fixtures: [
      {
        users: [
          { username: "alice", email: "alice@example.com" },
          { username: "nomail", email: null },
        ],
        clients: [
          {
            client_id: "app",
            client_secret: "the secret of this app, long enough",
            redirect_uris: [callback],
            scim: { url: app.url, token: app.token, profile: "okta" },
            backchannel_logout_uri: `${base}/logout`,
            global_token_revocation: { uri: `${base}/revoke` },
            skip_consent: true,
          },
          {
            client_id: "other",
            client_secret: "the secret of the other, long enough",
            redirect_uris: [callback],
            global_token_revocation: { uri: `${base}/other`, subject: "iss_sub" },
          },
        ],
      },
    ],
  });
  return { app, idp };
}

test("in order: suspended, sessions end, back-channel logout, SCIM, Global Token Revocation", async () => {
  const { app, idp } = await world();
  await idp.scim.push({ client: "app" });
  const { code } = await signIn(idp, { client_id: "app" });
  await fetch(idp.issuer + paths.token, {
    method: "POST",
    body: new URLSearchParams({
      ...{ grant_type: "authorization_code", code, redirect_uri: callback, client_id: "app" },
      client_secret: "the secret of this app, long enough",
    }),
  });
  const left = await idp.leave("alice");
  expect(left).toMatchObject({
    user: "alice",
    signals: [
      { client: "app", signal: "backchannel-logout", status: 204, error: null },
      { client: "app", signal: "scim", status: 200, error: null },
      { client: "app", signal: "global-token-revocation", status: 204, error: null },
      { client: "other", signal: "global-token-revocation", status: 204, error: null },
    ],
  });
  expect(await idp.call("users.show", { username: "alice" })).toMatchObject({ status: "suspended" });
  expect(await idp.call("sessions.list", { user: "alice" })).toEqual([]);
  expect(app.named("alice@example.com")).toMatchObject({ active: false });
  // The order holds for each app.
  expect(calls.map(({ url }) => url).filter((url) => url !== "/other")).toEqual(["/logout", "/revoke"]);

  const [revoke, other] = ["/revoke", "/other"].map((path) => calls.find(({ url }) => url === path));
  expect(JSON.parse(revoke?.text ?? "")).toEqual({ sub_id: { format: "email", email: "alice@example.com" } });
  const { id } = await idp.call("users.show", { username: "alice" });
  expect(JSON.parse(other?.text ?? "")).toEqual({ sub_id: { format: "iss_sub", iss: idp.issuer, sub: id } });
  const token = revoke?.authorization?.replace(/^Bearer /, "") ?? "";
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`));
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    ...{ issuer: idp.issuer, audience: `${base}/revoke`, algorithms: ["RS256"], typ: "global-token-revocation+jwt" },
  });
  expect(protectedHeader.alg).toBe("RS256");
  expect(Object.keys(payload).sort()).toEqual(["aud", "exp", "iat", "iss", "jti", "nbf", "sub"]);
  expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
  expect(payload).toMatchObject({ sub: "app", nbf: payload.iat });

  const records = (await idp.requests.list({ endpoint: "global_token_revocation" })).toSorted((one, two) =>
    String(one.client).localeCompare(String(two.client)),
  );
  expect(records).toMatchObject([
    {
      ...{ client: "app", user: "alice", status: 204, path: `${base}/revoke`, flow: null },
      parameters: {
        sub_id: { format: "email", email: "alice@example.com" },
        authorization: { scheme: "Bearer", claims: { aud: `${base}/revoke` } },
      },
    },
    { client: "other" },
  ]);
  expect(JSON.stringify(records)).not.toContain(token);
  await idp.expect({ endpoint: "global_token_revocation", client: "app", times: 1 });

  const before = app.named("alice@example.com")?.["id"] as unknown;
  await idp.call("users.restore", { username: "alice" });
  expect(app.named("alice@example.com")).toMatchObject({ active: true, id: before });
});

test("a signal that fails stops nothing, and the user is suspended", async () => {
  const { app, idp } = await world();
  await idp.scim.push({ client: "app" });
  status = 400;
  app.hook = () => ({ status: 403, body: { detail: "no" } });
  const { signals } = await idp.leave("alice");
  expect(signals).toMatchObject([
    { client: "app", signal: "scim", status: 403, error: expect.stringMatching(/^no\nsent/) as unknown },
    { client: "app", signal: "global-token-revocation", status: 400, error: "answered 400" },
    { client: "other", status: 400 },
  ]);
  const [record] = await idp.requests.list({ endpoint: "global_token_revocation", client: "app" });
  expect(record?.response).toMatchObject({ body: { error: "invalid_request" } });
  const token = calls.find(({ url }) => url === "/revoke")?.authorization?.replace(/^Bearer /, "");
  expect(JSON.stringify(record)).not.toContain(token);
  expect(await idp.call("users.show", { username: "alice" })).toMatchObject({ status: "suspended" });
  const pending = (await idp.scim.status({ client: "app" })) as ScimStatus;
  expect(pending.users[0]).toMatchObject({ username: "alice", pending: true });
});

test("a claim is the e-mail of the user where it is that of the ID token", async () => {
  const { idp } = await world();
  await idp.call("users.edit", { username: "alice", claims: { email: "alice@other.test" } });
  await idp.leave("alice");
  const revocation = calls.find(({ url }) => url === "/revoke");
  expect(JSON.parse(revocation?.text ?? "")).toEqual({ sub_id: { format: "email", email: "alice@other.test" } });
});

test("a user without an e-mail cannot be named by it; a user whom the app does not have is not created", async () => {
  const { app, idp } = await world();
  const { signals } = await idp.leave("nomail");
  expect(signals).toContainEqual({
    ...{ client: "app", signal: "global-token-revocation", status: null, ms: 0 },
    error: "nomail has no e-mail address; set subject: iss_sub",
  });
  expect(app.users.size).toBe(0);
  await idp.call("users.restore", { username: "nomail" });
  expect(app.users.size).toBe(0);
});

test("what leave ended stays ended after a restore: older tokens are dead, and the consent stays", async () => {
  const { idp } = await world();
  const secret = "the secret of this app, long enough";
  const redeem = async (): Promise<{ code: string; tokens: TokenResponse }> => {
    const { code } = await signIn(idp, { client_id: "app", scope: "openid offline_access" });
    return { code, tokens: (await (await redeemCode(code)).json()) as TokenResponse };
  };
  const ask = (form: Record<string, string>): Promise<Response> =>
    fetch(idp.issuer + paths.token, {
      method: "POST",
      body: new URLSearchParams({ client_id: "app", client_secret: secret, ...form }),
    });
  const redeemCode = (code: string): Promise<Response> =>
    ask({ grant_type: "authorization_code", code, redirect_uri: callback });
  const userInfo = async (token: string): Promise<number> =>
    (await fetch(idp.issuer + paths.userinfo, { headers: { authorization: `Bearer ${token}` } })).status;

  const { tokens } = await redeem();
  const { code: unused } = await signIn(idp, { client_id: "app", scope: "openid offline_access" });
  expect(await userInfo(tokens.access_token)).toBe(200);
  await idp.leave("alice");
  await idp.call("users.restore", { username: "alice" });
  expect(await userInfo(tokens.access_token)).toBe(403);
  const refreshed = await ask({ grant_type: "refresh_token", refresh_token: tokens.refresh_token ?? "" });
  expect([refreshed.status, await refreshed.json()]).toMatchObject([400, { error: "invalid_grant" }]);
  expect((await redeemCode(unused)).status).toBe(400);
  expect(await userInfo((await redeem()).tokens.access_token)).toBe(200);
  expect(await idp.call("grants.list", { user: "alice", client: "app" })).toMatchObject([{ status: "active" }]);
});
