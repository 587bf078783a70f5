import { join } from "node:path";
import * as client from "openid-client";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createIdp } from "../../../src/index.ts";
import { newFolder } from "../../helpers/cli.ts";
import { recipesOf } from "./guide.ts";
import { openidApp } from "./openid-app.ts";

/** The recipes of docs/testing.md on the requests of an app, against openid-client 6. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data, port: 0 });
afterAll(() => idp.close());
beforeEach(async () => {
  await idp.reset();
  await idp.requests.clear();
});
const { follow, asked, expectation, allTested } = recipesOf("What the app asked", data);
const { config } = await openidApp(idp.issuer);
const tokens = () => idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid email" });
/** The last cell has the whole command. */
const argumentsOf = (command: string): string => command.replace(/^idp expect /, "");

test("the app asked once, not twice", async () => {
  const { refresh_token: token = "" } = await tokens();
  const expected = argumentsOf(await follow("the app asked once, not twice"));
  // Two parts of the app need a new token at once, and share one request.
  let refreshing: ReturnType<typeof client.refreshTokenGrant> | null = null;
  const fresh = () => (refreshing ??= client.refreshTokenGrant(config, token));
  const [one, two] = await Promise.all([fresh(), fresh()]);
  expect(one.access_token).toBe(two.access_token);
  await asked(expected);
  // An app that asks twice is found out.
  await client.refreshTokenGrant(config, one.refresh_token ?? "");
  const { code, stdout } = await expectation(expected);
  expect(code).toBe(6);
  expect(stdout).toMatch(
    /^Not met: exactly 1 token request with grant_type refresh_token. The ledger holds 2.\nThese match:\n/,
  );
});

test("revoked mid-session", async () => {
  const { access_token: token } = await tokens();
  const userInfo = () => client.fetchUserInfo(config, token, "7123456789012345678");
  await userInfo();
  const expected = argumentsOf(await follow("revoked mid-session"));
  expect((await expectation(expected)).code).toBe(6);
  await expect(userInfo()).rejects.toMatchObject({ status: 403 });
  await asked(expected);
});

test("suspended user", async () => {
  const { refresh_token: token = "" } = await tokens();
  const expected = argumentsOf(await follow("suspended user"));
  await expect(client.refreshTokenGrant(config, token)).rejects.toMatchObject({ error: "invalid_grant" });
  await asked(expected);
});

test("every recipe is tested", allTested);
