import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";

/** An ID token that was made bad is never accepted as a hint, even after a reset, a restore or an import. */

test("a reset, a restore and an import do not make it valid", async () => {
  const idp = await serve();
  const ofAlice = { user: "alice", client: "demo-app", type: "id" } as const;
  const taken = async (hint: string) => {
    const { status } = await new Browser(idp.issuer).open(`/api/v2/oauth/logout?id_token_hint=${hint}`);
    return status === 200;
  };
  await idp.snapshot("before");
  const exported = await idp.call("export", {});
  const flawed = await idp.call("token.issue", { ...ofAlice, expired: true });
  expect(await taken(flawed.token)).toBe(false);
  const changes = [
    () => idp.reset(),
    () => idp.restore("before"),
    () => idp.call("import", { ...exported }),
    () => idp.restore("before"),
    () => idp.reset(),
  ];
  for (const change of changes) {
    await change();
    expect(await taken(flawed.token), String(change)).toBe(false);
    expect(await taken((await idp.call("token.issue", ofAlice)).token)).toBe(true);
  }
});
