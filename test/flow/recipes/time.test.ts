import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as client from "openid-client";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createIdp, type Idp } from "../../../src/index.ts";
import { approve, Browser } from "../../helpers/browser.ts";
import { newFolder } from "../../helpers/cli.ts";
import { idpHere } from "../../helpers/command.ts";
import { repository } from "../../helpers/readme.ts";

/** The recipes of docs/testing.md on time, as they are printed, against openid-client 6. The ledger says what the client did. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data });
afterAll(() => idp.close());
await idp.snapshot("fresh");
beforeEach(async () => {
  await idp.restore("fresh");
  await idp.clock.reset();
  await idp.call("requests.clear", {});
});

const rows = readFileSync(join(repository, "docs/testing.md"), "utf8").matchAll(
  /^\| (.+?) +\| `idp ((?:expire|clock) .+?)` +\|/gm,
);
const recipes = new Map([...rows].map(([, title = "", words = ""]) => [title, words]));
const tested: string[] = [];

/** Runs the command of a recipe. */
async function follow(title: string): Promise<void> {
  tested.push(title);
  const { code, stderr } = await idpHere(["--data", data, "--yes", ...(recipes.get(title) ?? "").split(" ")]);
  expect(code, stderr).toBe(0);
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const plainHttp = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] };
const discover = (of: Idp = idp) =>
  client.discovery(new URL(of.issuer), "demo-app", undefined, client.ClientSecretPost("demo-secret"), plainHttp);
const callback = "http://localhost:3000/callback";

interface SignedIn {
  readonly browser: Browser;
  readonly config: client.Configuration;
  /** @param change parameters of the request. @returns redeems the code, or throws what came back */
  readonly ask: (change?: Record<string, string>) => Promise<() => ReturnType<typeof client.authorizationCodeGrant>>;
}

/** A browser, and an app that sends it through the login and consent pages. */
async function app(of: Idp = idp): Promise<SignedIn> {
  const config = await discover(of);
  const browser = new Browser(of.issuer);
  return {
    browser,
    config,
    async ask(change = {}) {
      const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() };
      const url = client.buildAuthorizationUrl(config, {
        ...{ redirect_uri: callback, scope: "openid email", state: checks.expectedState, ...change },
        code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
        code_challenge_method: "S256",
      });
      const { left } = await approve(browser, await browser.open(url.href));
      return () => client.authorizationCodeGrant(config, left ?? new URL(callback), checks);
    },
  };
}

const subOf = "7123456789012345678";
const userInfo = async (config: client.Configuration, { access_token: token }: client.TokenEndpointResponse) =>
  (await client.fetchUserInfo(config, token, subOf)).sub;
const refused = (status: number) => ({ status });
const statuses = async (endpoint: string) =>
  (await idp.call("requests.list", { endpoint })).map(({ status }) => status);

test("expired access token mid-session", async () => {
  const { config, ask } = await app();
  const tokens = await (await ask())();
  await follow("expired access token mid-session");
  await expect(userInfo(config, tokens)).rejects.toMatchObject(refused(401));
  const renewed = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
  expect(await userInfo(config, renewed)).toBe(subOf);
  await expect.poll(() => statuses("userinfo")).toEqual([401, 200]);
  expect(await statuses("token")).toEqual([200, 200]);
});

test("refresh token expired", async () => {
  const { config, ask } = await app();
  const tokens = await (await ask())();
  await follow("refresh token expired");
  await expect(userInfo(config, tokens)).rejects.toMatchObject(refused(401));
  await expect(client.refreshTokenGrant(config, tokens.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
  });
  expect(await userInfo(config, await (await ask())())).toBe(subOf);
});

test("session at idp expired", async () => {
  const { config, ask } = await app();
  const tokens = await (await ask())();
  await (
    await ask({ prompt: "none" })
  )();
  await follow("session at idp expired");
  await expect((await ask({ prompt: "none" }))()).rejects.toMatchObject({ error: "login_required" });
  expect(await userInfo(config, tokens)).toBe(subOf);
});

test("code too old", async () => {
  const { ask } = await app();
  const redeem = await ask();
  await follow("code too old");
  await expect(redeem()).rejects.toMatchObject({ error: "invalid_grant" });
  await idp.clock.reset();
  expect((await (await ask())()).access_token).toBeDefined();
});

test("every recipe is tested", () => {
  expect(recipes.size).toBeGreaterThan(0);
  expect([...new Set(tested)].sort()).toEqual([...recipes.keys()].sort());
});

test("tests in parallel: each on a server of its own, with tokens that a restore makes good again", async () => {
  await Promise.all(
    Array.from({ length: 4 }, async (_, index) => {
      await using own = { idp: await createIdp(), [Symbol.asyncDispose]: () => own.idp.close() };
      const { config, ask } = await app(own.idp);
      const tokens = await (await ask())();
      await own.idp.snapshot("signed-in");
      for (let round = 0; round <= index; round++) {
        await own.idp.restore("signed-in");
        const { refresh_token: next } = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
        await own.idp.revoke({ user: "alice", client: "demo-app" });
        await expect(client.refreshTokenGrant(config, next ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
        await own.idp.restore("signed-in");
        // What the test was issued is no good, and does no harm.
        await expect(client.refreshTokenGrant(config, next ?? "")).rejects.toMatchObject({ error: "invalid_grant" });
        expect(await userInfo(config, tokens)).toBe(subOf);
      }
    }),
  );
});
