import { expect, onTestFinished, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { newFolder } from "../helpers/cli.ts";

/** Many servers in one process: each has its own port, users, keys and clock. */

test("twenty at once, without crosstalk", async () => {
  const folder = newFolder();
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, at) =>
      createIdp({
        // Some with a folder of their own.
        ...(at % 5 === 0 && { data: `${folder}/${at}` }),
        now: () => Date.UTC(2026, 0, 1) + at * 1000,
        fixtures: {
          users: [{ username: "same", displayName: `Name ${at}` }, { username: `only-${at}` }],
          clients: [{ client_id: "app", client_secret: `secret-${at}`, redirect_uris: ["http://localhost:3000/cb"] }],
        },
      }),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(all.map((idp) => idp.close()));
  });
  expect(new Set(all.map(({ port }) => port)).size).toBe(20);
  expect(new Set(all.map(({ adminToken }) => adminToken)).size).toBe(20);

  const userInfo = async (idp: Idp, token: string): Promise<{ readonly status: number; readonly body: unknown }> => {
    const response = await fetch(`${idp.issuer}/api/v2/oauth/userinfo`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: response.status, body: await response.json() };
  };
  const tokens = await Promise.all(
    all.map((idp) => idp.issueTokens({ user: "same", client: "app", scope: "openid profile" })),
  );
  await Promise.all(
    all.map(async (idp, at) => {
      const own = await userInfo(idp, tokens[at]?.access_token ?? "");
      expect(own).toMatchObject({ status: 200, body: { user: { displayName: `Name ${at}` } } });
      expect(await userInfo(idp, tokens[(at + 1) % 20]?.access_token ?? "")).toMatchObject({ status: 401 });
      const names = (await idp.call("users.list", {})).map(({ username }) => username);
      expect(names.sort()).toEqual(["same", `only-${at}`].sort());
    }),
  );

  // What is revoked, suspended or closed in one is so in that one only.
  await all[0]?.revoke({ user: "same" });
  await all[1]?.call("users.suspend", { username: "same" });
  await all[2]?.close();
  const statuses = await Promise.all(
    all.map(async (idp, at) => (at === 2 ? null : userInfo(idp, tokens[at]?.access_token ?? ""))),
  );
  expect(statuses.map((one) => one?.status)).toEqual([403, 403, undefined, ...Array.from({ length: 17 }, () => 200)]);
});
