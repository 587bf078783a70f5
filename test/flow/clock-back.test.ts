import { join } from "node:path";
import { expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { newFolder } from "../helpers/cli.ts";
import { callback, exchange, refresh, userinfo } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

test("a clock that jumps back an hour, also across a restart: tokens stay good, what was revoked stays dead", async () => {
  const clock = testClock();
  const data = join(newFolder(), "data");
  const options = {
    data,
    now: clock.now,
    port: 0,
    issuer: "http://localhost:4370",
    fixtures: {
      users: [{ username: "alice" }],
      clients: [{ client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] }],
    },
  };
  const asked = { user: "alice", client: "demo-app", scope: "openid email" };
  let idp = await createIdp(options);
  const at = () => ({ issuer: `http://localhost:${idp.port}` });
  try {
    const live = await idp.issueTokens(asked);
    const revoked = await idp.issueTokens(asked);
    await idp.call("token.revoke", { token: revoked.access_token });
    const rotated = (await idp.issueTokens(asked)).refresh_token ?? "";
    expect((await refresh(at(), rotated)).status).toBe(200);

    clock.pass(-3600);
    for (const step of ["at once", "after a restart"]) {
      expect([step, (await userinfo(at(), live.access_token)).status]).toEqual([step, 200]);
      expect([step, (await userinfo(at(), revoked.access_token)).status]).toEqual([step, 401]);
      await idp.close();
      idp = await createIdp(options);
    }
    // New ones too: a code, its tokens, a refresh.
    const { code } = await idp.issueCode(asked);
    const { status, json } = await exchange(at(), code);
    expect(status).toBe(200);
    expect((await refresh(at(), json.refresh_token)).status).toBe(200);
    expect((await refresh(at(), rotated)).json.error_description).toMatch(/already rotated/);
  } finally {
    await idp.close();
  }
});
