import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";
import { Browser } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { authorizeUrl, exchange, paths, post, refresh, signIn, userinfo } from "../helpers/client.ts";
import { jwtBearer, partner, partnerIdJag, partnerKeys } from "../helpers/cross-app.ts";
import { SignJWT } from "jose";

/** What was used once stays used when the server goes and comes back: all of it is on the disk before the answer. */

/** A server on a folder, which ends and starts again. */
function restartable(): {
  start: (settings?: IdpOptions["settings"]) => Promise<Idp>;
  edit: (change: (text: string) => string) => Promise<void>;
} {
  const data = newFolder();
  let running: Idp | null = null;
  onTestFinished(() => running?.close());
  return {
    start: async (settings = {}) => {
      await running?.close();
      const secret = "a secret of 32 bytes or more, for HS256 and the like";
      const method = "client_secret_jwt" as const;
      const signer = { client_id: "signer", client_secret: secret, token_endpoint_auth_method: method };
      running = await createIdp({
        data,
        port: 0,
        settings,
        issuer: "http://localhost:4370",
        fixtures: [
          builtInDemo(),
          { value: { clients: [{ ...signer, redirect_uris: ["http://localhost:3000/callback"] }] } },
        ],
      });
      return running;
    },
    /** Ends it, and changes its data. */
    edit: async (change) => {
      await running?.close();
      const file = join(data, "data.json");
      const before = readFileSync(file, "utf8");
      const after = change(before);
      expect(after).not.toBe(before);
      writeFileSync(file, after);
    },
  };
}
/** Where it really is; its issuer stays the same on every port. */
const at = ({ port }: Idp): { readonly issuer: string } => ({ issuer: `http://localhost:${port}` });
const statuses = async (answers: readonly PromiseSettledResult<{ status: number }>[]): Promise<number[]> =>
  Promise.resolve(answers.map((one) => (one.status === "fulfilled" ? one.value.status : 0)));

test("a code, a refresh token, an access token that died, a grant that was revoked, a session that ended", async () => {
  const { start } = restartable();
  const first = await start();
  const { code, browser } = await signIn(at(first));
  const redeemed = (await exchange(at(first), code)).json;
  const renewed = (await refresh(at(first), redeemed.refresh_token)).json;
  const other = await first.issueTokens({ user: "alice", client: "demo-app", scope: "openid" });
  await post(at(first), paths.revoke, { token: other.access_token });
  const bobs = await first.issueTokens({ user: "bob", client: "demo-app", scope: "openid" });
  await first.revoke({ user: "bob", client: "demo-app" });
  await first.call("sessions.end", { user: "alice" });

  const second = await start();
  expect((await userinfo(at(second), renewed.access_token)).status).toBe(200);
  expect((await exchange(at(second), code)).json.error).toBe("invalid_grant");
  expect((await userinfo(at(second), other.access_token)).status).toBe(401);
  expect((await userinfo(at(second), bobs.access_token)).status).toBe(403);
  expect((await refresh(at(second), bobs.refresh_token ?? "")).json.error).toBe("invalid_grant");
  const again = new Browser(at(second).issuer);
  const cookie = [...browser.cookies].map(([name, value]) => `${name.replace(/\d+/, String(second.port))}=${value}`);
  expect((await again.open("/account", { headers: { cookie: cookie.join("; ") } })).page).toBe("login");
  // The rotated one is a replay after the restart too, and takes the whole family with it.
  expect((await refresh(at(second), redeemed.refresh_token)).json.error).toBe("invalid_grant");
  const third = await start();
  expect((await userinfo(at(third), renewed.access_token)).status).toBe(401);
  expect((await refresh(at(third), renewed.refresh_token)).json.error).toBe("invalid_grant");
});

test("a code and a refresh token, fifty times at once while the server ends, and fifty more when it is back: at most one wins", async () => {
  const { start } = restartable();
  const first = await start();
  const { code } = await signIn(at(first), { user: "bob" });
  const held = (await exchange(at(first), (await signIn(at(first))).code)).json;
  const codes = Promise.allSettled(Array.from({ length: 50 }, () => exchange(at(first), code)));
  const refreshes = Promise.allSettled(Array.from({ length: 50 }, () => refresh(at(first), held.refresh_token)));
  const second = await start();
  const after = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) =>
      index % 2 === 0 ? exchange(at(second), code) : refresh(at(second), held.refresh_token),
    ),
  );
  const won = (list: readonly number[]): number => list.filter((status) => status === 200).length;
  const [byCode, byRefresh, later] = [
    await statuses(await codes),
    await statuses(await refreshes),
    await statuses(after),
  ];
  const laterOf = (kind: number): number[] => later.filter((_, index) => index % 2 === kind);
  expect(won([...byCode, ...laterOf(0)])).toBeLessThanOrEqual(1);
  expect(won([...byRefresh, ...laterOf(1)])).toBeLessThanOrEqual(1);
  // Whatever was answered before the end, all later ones were replays.
  expect((await userinfo(at(second), held.access_token)).status).toBe(401);
});

test("an assertion of a client", async () => {
  const { start } = restartable();
  const first = await start();
  const assertion = await new SignJWT({ iss: "signer", sub: "signer", aud: first.issuer, jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("5 min")
    .sign(new TextEncoder().encode("a secret of 32 bytes or more, for HS256 and the like"));
  const authenticate = (idp: Idp) =>
    post(at(idp), paths.revoke, {
      client_id: null,
      client_secret: null,
      token: "x",
      client_assertion: assertion,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    });
  expect((await authenticate(first)).status).toBe(200);
  const second = await start();
  expect((await authenticate(second)).json.error).toBe("invalid_client");
});

test("an ID-JAG", async () => {
  const { start } = restartable();
  const first = await start();
  const assertion = await partnerIdJag({ issuer: first.issuer }, { aud: first.issuer });
  const client_id = "agent-at-tool";
  await first.call("seed", {
    users: [{ username: "al", federated: [{ issuer: partner, sub: "p-al" }] }],
    clients: [{ client_id, client_secret: "s", grant_types: [jwtBearer] }],
    scopes: { "files:read": {} },
    settings: { trusted_issuers: [{ issuer: partner, jwks: partnerKeys }] },
  });
  const redeem = (idp: Idp) =>
    post(at(idp), paths.token, { client_id, client_secret: "s", grant_type: jwtBearer, assertion });
  expect((await redeem(first)).status).toBe(200);
  const second = await start();
  expect((await redeem(second)).json.error).toBe("invalid_grant");
});

/** In `data.json`, of every record that has a status; a grant has an epoch, a user has none. */
const withStatus = (isOfGrant: boolean) => (text: string) => {
  const data = JSON.parse(text) as { grants: object[]; users: object[] };
  for (const record of isOfGrant ? data.grants : data.users) Object.assign(record, { status: "paused" });
  return JSON.stringify(data);
};

test("a grant of an unknown status gives no access", async () => {
  const { start, edit } = restartable();
  const first = await start();
  const { code, browser } = await signIn(at(first));
  const tokens = (await exchange(at(first), code)).json;
  const { code: unused } = await signIn(at(first), { browser });
  await edit(withStatus(true));
  const second = await start();
  expect((await userinfo(at(second), tokens.access_token)).json.error).toBe("access_revoked");
  expect((await refresh(at(second), tokens.refresh_token)).json.error).toBe("invalid_grant");
  expect((await exchange(at(second), unused)).json.error).toBe("invalid_grant");
  const [grant] = await second.call("grants.list", {});
  await expect(second.call("grants.edit", { id: grant?.id ?? "", scope: "openid" })).rejects.toMatchObject({
    code: "conflict",
  });
  expect(await second.call("export", { as: "fixtures" })).toMatchObject({ grants: [] });
});

test("a user of an unknown status is not let in", async () => {
  const { start, edit } = restartable();
  const first = await start();
  const { access_token: token } = (await exchange(at(first), (await signIn(at(first))).code)).json;
  await edit(withStatus(false));
  // The picker has no word for it.
  const second = await start({ login: "password" });
  expect((await userinfo(at(second), token)).status).toBe(403);
  const browser = new Browser(at(second).issuer);
  const page = await browser.press(await browser.open(authorizeUrl(at(second))), "login-submit", {
    username: "alice",
    password: "alice",
  });
  expect([page.status, page.state]).toEqual([403, "error-suspended"]);
});
