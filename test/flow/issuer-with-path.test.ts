import * as client from "openid-client";
import { afterAll, expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";

/** An issuer below a path, as behind a proxy: all addresses are below it, and RFC 8414 puts the well-known part before it. */

const port = await freePort();
const issuer = `http://localhost:${port}/tenants/one`;
await startIdp(["--memory", "--port", port, "--issuer", issuer], { cwd: newFolder(afterAll) }, afterAll);
const callback = "http://localhost:3000/callback";

test.each(["oidc", "oauth2"] as const)("discovery of %s, sign-in, UserInfo", async (algorithm) => {
  const config = await client.discovery(
    new URL(issuer),
    "demo-app",
    undefined,
    client.ClientSecretPost("demo-secret"),
    {
      algorithm,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
      execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
    },
  );
  expect(config.serverMetadata().issuer).toBe(issuer);

  const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() };
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: "openid profile",
    state: checks.expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const browser = new Browser(issuer);
  const login = await browser.open(url.href);
  expect(login.url).toContain(`${issuer}/`);
  const { left } = await approve(browser, login);

  const tokens = await client.authorizationCodeGrant(config, left ?? new URL(callback), checks);
  const { sub } = tokens.claims() ?? { sub: "" };
  expect(await client.fetchUserInfo(config, tokens.access_token, sub)).toMatchObject({ user: { username: "alice" } });
  expect(await browser.open(`${issuer}/account`)).toMatchObject({ page: "account" });
});
