import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRemoteJWKSet, jwtVerify } from "jose";
import * as client from "openid-client";
import { afterAll, afterEach, expect, test } from "vitest";
import { builtInDemo } from "../../../src/fixture-files.ts";
import { createIdp } from "../../../src/index.ts";
import { approve, Browser } from "../../helpers/browser.ts";
import { newFolder } from "../../helpers/cli.ts";
import { idpHere } from "../../helpers/command.ts";
import { repository } from "../../helpers/readme.ts";

/** The recipes of docs/testing.md, as they are printed, against openid-client 6 and jose. The ledger says what the client did. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data, fixtures: [builtInDemo(), { settings: { refresh_grace: 0 } }] });
afterAll(() => idp.close());
afterEach(async () => {
  await idp.faults.clear();
  await idp.call("requests.clear", {});
});

const recipes = new Map(
  [...readFileSync(join(repository, "docs/testing.md"), "utf8").matchAll(/^\| (.+?) +\| `idp (faults .+?)` +\|/gm)].map(
    ([, title = "", words = ""]) => [title, words],
  ),
);
const tested: string[] = [];

/** Runs the command of a recipe. */
async function follow(title: string): Promise<void> {
  tested.push(title);
  const words = [...(recipes.get(title) ?? "").matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain,
  );
  const { code, stderr } = await idpHere(["--data", data, ...words.map(String)]);
  expect(code, stderr).toBe(0);
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const plainHttp = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] };
const discover = () =>
  client.discovery(new URL(idp.issuer), "demo-app", undefined, client.ClientSecretPost("demo-secret"), plainHttp);
const callback = "http://localhost:3000/callback";

/** Sends the browser through the login and consent pages. @returns redeems the code */
async function signIn(config: client.Configuration): Promise<() => ReturnType<typeof client.authorizationCodeGrant>> {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
  };
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: "openid email",
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const browser = new Browser(idp.issuer);
  const { left } = await approve(browser, await browser.open(url.href));
  return () => client.authorizationCodeGrant(config, left ?? new URL(callback), checks);
}

const tokensOf = async (config: client.Configuration) => (await signIn(config))();
const statuses = async (endpoint: string) =>
  (await idp.call("requests.list", { endpoint })).map(({ status }) => status);

test("refresh refused once", async () => {
  const config = await discover();
  const { refresh_token: token = "" } = await tokensOf(config);
  await follow("refresh refused once");
  await expect(client.refreshTokenGrant(config, token)).rejects.toMatchObject({ error: "invalid_grant", status: 400 });
  expect((await tokensOf(config)).access_token).toBeDefined();
  await expect.poll(() => statuses("token")).toEqual([200, 400, 200]);
});

test("response lost after rotation", async () => {
  const config = await discover();
  const { refresh_token: token = "" } = await tokensOf(config);
  await follow("response lost after rotation");
  await expect(client.refreshTokenGrant(config, token)).rejects.toThrow("fetch failed");
  await expect(client.refreshTokenGrant(config, token)).rejects.toMatchObject({ error: "invalid_grant" });
  await expect.poll(() => statuses("token")).toEqual([200, 0, 400]);

  await idp.call("seed", { settings: { refresh_grace: 30 } });
  const { refresh_token: again = "" } = await tokensOf(config);
  await follow("response lost after rotation");
  await expect(client.refreshTokenGrant(config, again)).rejects.toThrow("fetch failed");
  expect((await client.refreshTokenGrant(config, again)).refresh_token).toBeDefined();
});

test("slow token endpoint", async () => {
  const config = await discover();
  config.timeout = 0.2;
  const redeem = await signIn(config);
  await follow("slow token endpoint");
  await expect(redeem()).rejects.toThrow("timed out");
  config.timeout = 30;
  expect((await redeem()).access_token).toBeDefined();
  // The server may see only later that the client has gone.
  await expect.poll(async () => (await statuses("token")).sort()).toEqual([0, 200]);
});

test("503, then fine", async () => {
  const config = await discover();
  const redeem = await signIn(config);
  await follow("503, then fine");
  await expect(redeem()).rejects.toMatchObject({ cause: { status: 503 } });
  expect((await redeem()).access_token).toBeDefined();
  await expect.poll(() => statuses("token")).toEqual([503, 200]);
});

test("keys rotated", async () => {
  const { id_token: idToken = "" } = await tokensOf(await discover());
  await idp.call("requests.clear", {});
  await follow("keys rotated");
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`), { cooldownDuration: 0 });
  const verified = await jwtVerify(idToken, keys, { issuer: idp.issuer, audience: "demo-app" });
  expect(verified.payload.sub).toBeDefined();
  await expect.poll(() => statuses("jwks")).toEqual([200, 200]);
});

test("wrong nonce", async () => {
  const config = await discover();
  const redeem = await signIn(config);
  await follow("wrong nonce");
  await expect(redeem()).rejects.toMatchObject({ cause: { cause: { claim: "nonce" } } });
  expect((await tokensOf(config)).claims()?.nonce).toBeDefined();
});

test("JWKS down", async () => {
  const config = await discover();
  await follow("JWKS down");
  await expect(tokensOf(config)).rejects.toMatchObject({ cause: { status: 503 } });
  await idp.faults.clear();
  expect((await tokensOf(config)).claims()?.sub).toBeDefined();
  await expect.poll(() => statuses("jwks")).toEqual([503, 200]);
});

test("every recipe is tested", () => {
  expect(recipes.size).toBeGreaterThan(0);
  expect([...new Set(tested)].sort()).toEqual([...recipes.keys()].sort());
});
