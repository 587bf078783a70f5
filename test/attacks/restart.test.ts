import { expect, onTestFinished, test } from "vitest";
import { builtInDemo } from "../../src/fixture-files.ts";
import { createIdp, type Idp } from "../../src/index.ts";
import { Browser } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { exchange, paths, post, refresh, signIn, userinfo } from "../helpers/client.ts";
import { SignJWT } from "jose";

/** What was used once stays used when the server goes and comes back: all of it is on the disk before the answer. */

/** A server on a folder, which ends and starts again. */
function restartable(): { start: () => Promise<Idp> } {
  const data = newFolder();
  let running: Idp | null = null;
  onTestFinished(() => running?.close());
  return {
    start: async () => {
      await running?.close();
      const secret = "a secret of 32 bytes or more, for HS256 and the like";
      const method = "client_secret_jwt" as const;
      const signer = { client_id: "signer", client_secret: secret, token_endpoint_auth_method: method };
      running = await createIdp({
        data,
        port: 0,
        issuer: "http://localhost:4370",
        fixtures: [
          builtInDemo(),
          { value: { clients: [{ ...signer, redirect_uris: ["http://localhost:3000/callback"] }] } },
        ],
      });
      return running;
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
  expect((await refresh(at(second), bobs.refresh_token)).json.error).toBe("invalid_grant");
  const again = new Browser(at(second).issuer);
  const cookie = [...browser.cookies].map(([name, value]) => `${name.replace(/\d+/, String(second.port))}=${value}`);
  expect((await again.open("/account", { headers: { cookie: cookie.join("; ") } })).page).toBe("login");
  // The rotated one is a replay after the restart too, and takes the whole family with it.
  expect((await refresh(at(second), redeemed.refresh_token)).json.error).toBe("invalid_grant");
  const third = await start();
  expect((await userinfo(at(third), renewed.access_token)).status).toBe(401);
  expect((await refresh(at(third), renewed.refresh_token)).json.error).toBe("invalid_grant");
});

test("fifty at once while the server ends, and fifty more when it is back: one wins at most, of a code and of a refresh token", async () => {
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
