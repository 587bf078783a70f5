import { join } from "node:path";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterAll, afterEach, expect, test } from "vitest";
import { builtInDemo } from "../../../src/serve/fixture-files.ts";
import { createIdp } from "../../../src/index.ts";
import { newFolder } from "../../helpers/cli.ts";
import { recipesOf } from "./guide.ts";
import { openidApp } from "./openid-app.ts";

/** The recipes of docs/testing.md on faults against openid-client 6 and jose. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data, fixtures: [builtInDemo(), { settings: { refresh_grace: 0 } }] });
afterAll(() => idp.close());
afterEach(async () => {
  await idp.faults.clear();
  await idp.requests.clear();
});
const { follow, asked, allTested } = recipesOf("When things go wrong", data);

test("refresh refused once", async () => {
  const { config, tokens } = await openidApp(idp.issuer);
  const { refresh_token: token = "" } = await tokens();
  await follow("refresh refused once");
  await expect(client.refreshTokenGrant(config, token)).rejects.toMatchObject({ error: "invalid_grant", status: 400 });
  expect((await tokens()).access_token).toBeDefined();
  await asked(
    "token --grant-type refresh_token --times 1",
    "token --grant-type refresh_token --status 400 --times 1",
    "token --grant-type authorization_code --status 200 --times 2",
  );
});

test("response lost after rotation", async () => {
  const { config, tokens } = await openidApp(idp.issuer);
  const { refresh_token: token = "" } = await tokens();
  await follow("response lost after rotation");
  await expect(client.refreshTokenGrant(config, token)).rejects.toThrow("fetch failed");
  await expect(client.refreshTokenGrant(config, token)).rejects.toMatchObject({ error: "invalid_grant" });
  await asked(
    "token --grant-type refresh_token --times 2 --within 5s",
    "token --grant-type refresh_token --status 400 --times 1",
  );

  await idp.call("seed", { settings: { refresh_grace: 30 } });
  await idp.requests.clear();
  const { refresh_token: again = "" } = await tokens();
  await follow("response lost after rotation");
  await expect(client.refreshTokenGrant(config, again)).rejects.toThrow("fetch failed");
  expect((await client.refreshTokenGrant(config, again)).refresh_token).toBeDefined();
  await asked(
    "token --grant-type refresh_token --times 2 --within 5s",
    "token --grant-type refresh_token --status 200 --times 1",
  );
});

test("slow token endpoint", async () => {
  const { config, signIn } = await openidApp(idp.issuer);
  config.timeout = 0.2;
  const redeem = await signIn();
  await follow("slow token endpoint");
  await expect(redeem()).rejects.toThrow("timed out");
  config.timeout = 30;
  expect((await redeem()).access_token).toBeDefined();
  // The server may see only later that the client has gone.
  await asked("token --times 2 --within 10s", "token --status 200 --times 1");
});

test("503, then fine", async () => {
  const { signIn } = await openidApp(idp.issuer);
  const redeem = await signIn();
  await follow("503, then fine");
  await expect(redeem()).rejects.toMatchObject({ cause: { status: 503 } });
  expect((await redeem()).access_token).toBeDefined();
  await asked("token --times 2", "token --status 503 --times 1", "token --status 200 --times 1");
});

test("keys rotated", async () => {
  const { tokens } = await openidApp(idp.issuer);
  const { id_token: idToken = "" } = await tokens();
  await idp.requests.clear();
  await follow("keys rotated");
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`), { cooldownDuration: 0 });
  const verified = await jwtVerify(idToken, keys, { issuer: idp.issuer, audience: "demo-app" });
  expect(verified.payload.sub).toBeDefined();
  await asked("jwks --times 2");
});

test("wrong nonce", async () => {
  const { signIn, tokens } = await openidApp(idp.issuer);
  const redeem = await signIn();
  await follow("wrong nonce");
  await expect(redeem()).rejects.toMatchObject({ cause: { cause: { claim: "nonce" } } });
  await asked("token --status 200 --times 1", "userinfo --never");
  expect((await tokens()).claims()?.nonce).toBeDefined();
});

test("JWKS down", async () => {
  const { tokens } = await openidApp(idp.issuer);
  await follow("JWKS down");
  await expect(tokens()).rejects.toMatchObject({ cause: { status: 503 } });
  await asked("jwks --status 503 --times 1", "userinfo --never");
  await idp.faults.clear();
  expect((await tokens()).claims()?.sub).toBeDefined();
  await asked("jwks --times 2", "jwks --status 200 --times 1");
});

test("every recipe is tested", allTested);
