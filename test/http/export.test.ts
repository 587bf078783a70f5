import { expect, test } from "vitest";
import type { FixtureFile } from "../../src/index.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, pick, post, signIn } from "../helpers/client.ts";
import { serve } from "../helpers/app.ts";

test("an export as fixtures can be started from, whatever was granted", async () => {
  const idp = await serve();
  const claims = JSON.stringify({ userinfo: { given_name: null } });
  await signIn(idp, { user: "alice", scope: "openid email details", claims });
  await idp.call("clients.edit", { client_id: "demo-app", scope: "openid email" });
  const browser = new Browser(idp.issuer);
  const consent = await pick(browser, await browser.open(authorizeUrl(idp, { scope: "email" })), "bob");
  const back = await browser.press(consent, "consent-allow", { scope: null });
  expect(back.left?.searchParams.has("code"), "bob grants no scope at all").toBe(true);

  const exported = (await idp.call("export", { as: "fixtures" })) as FixtureFile;
  const again = await serve({ fixtures: exported });
  expect(await again.call("grants.list", {})).toMatchObject([
    { user: "alice", client: "demo-app", scope: "openid email" },
  ]);
});

test("an export as fixtures has no client that registered itself", async () => {
  const idp = await serve({ dynamicRegistration: true });
  const metadata = {
    redirect_uris: ["https://app.example.test/cb"],
    backchannel_logout_uri: "https://app.example.test/",
  };
  const { status, json } = await post(idp, "/api/v2/oauth/register", {}, { body: JSON.stringify(metadata) });
  expect(status).toBe(201);
  const clientId = String((json as Readonly<Record<string, unknown>>)["client_id"]);
  await idp.call("issue.grant", { user: "alice", client: clientId, scope: "openid" });
  const { clients, grants } = (await idp.call("export", { as: "fixtures" })) as FixtureFile;
  expect(clients?.map((client) => client.client_id)).not.toContain(clientId);
  expect(clients).toHaveLength(4);
  expect(grants).toEqual([]);
  // All of it is in the other form.
  expect(JSON.stringify(await idp.call("export", {}))).toContain(clientId);
});
