import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as client from "openid-client";
import { afterAll, expect, test } from "vitest";
import { approve, Browser } from "../helpers/browser.ts";
import { idp as run, newFolder, startIdp } from "../helpers/cli.ts";

/** openid-client 6 uses two issuers of one server at the same time, in one browser. */

const redirect_uri = "http://localhost:3000/callback";
const idp = await startIdp(["--memory", "--issuers", "2"], { cwd: newFolder(afterAll) }, afterAll);
const browser = new Browser(idp.issuer);

/** A sign-in that is under way: the browser is at the login page. */
async function begin(name: string) {
  const issuer = `${idp.issuer}/i/${name}`;
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
  const plainHttp = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] };
  const secret = client.ClientSecretPost("demo-secret");
  const config = await client.discovery(new URL(issuer), "demo-app", undefined, secret, plainHttp);
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const checks = { pkceCodeVerifier, expectedState: client.randomState(), expectedNonce: client.randomNonce() };
  const url = client.buildAuthorizationUrl(config, {
    ...{ redirect_uri, scope: "openid profile offline_access", code_challenge_method: "S256" },
    ...{ state: checks.expectedState, nonce: checks.expectedNonce },
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  });
  return { issuer, config, checks, url, login: await browser.open(url.href) };
}

test("two sign-ins of one browser under way at once, each with its own user, tokens and session", async () => {
  const [one, two] = [await begin("w1"), await begin("w2")];
  const back = [await approve(browser, one.login, "alice"), await approve(browser, two.login, "bob")] as const;
  const [callbackOfOne, callbackOfTwo] = back.map(({ left }) => left ?? new URL(redirect_uri));
  if (callbackOfOne === undefined || callbackOfTwo === undefined) throw new Error("the browser was not sent back");

  // Mix-up (RFC 9207): the response of one issuer is refused by the client of the other.
  await expect(client.authorizationCodeGrant(two.config, callbackOfOne, one.checks)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('"iss" (issuer)') },
  });

  const [alice, bob] = await Promise.all([
    client.authorizationCodeGrant(one.config, callbackOfOne, one.checks),
    client.authorizationCodeGrant(two.config, callbackOfTwo, two.checks),
  ]);
  expect([alice.claims()?.iss, bob.claims()?.iss]).toEqual([one.issuer, two.issuer]);
  const names = await Promise.all(
    [[one.config, alice] as const, [two.config, bob] as const].map(async ([config, tokens]) => {
      const { access_token } = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
      return (await client.fetchUserInfo(config, access_token, tokens.claims()?.sub ?? ""))["user"];
    }),
  );
  expect(names).toMatchObject([{ username: "alice" }, { username: "bob" }]);

  const isOf = `the token is one of the issuer ${one.issuer}; this is ${two.issuer}`;
  await expect(client.fetchUserInfo(two.config, alice.access_token, "alice")).rejects.toMatchObject({
    cause: expect.arrayContaining([
      { scheme: "bearer", parameters: expect.objectContaining({ error: "invalid_token", error_description: isOf }) },
    ]),
  });
  await expect(client.refreshTokenGrant(one.config, bob.refresh_token ?? "")).rejects.toMatchObject({
    error: "invalid_grant",
    error_description: expect.stringContaining(two.issuer),
  });
  // The browser is signed in at both: each sends it back without a page.
  for (const { url } of [one, two]) expect((await browser.open(url.href)).left).not.toBeNull();
});

test("kill -9 while issuers are added: confirmed ones are there, and each of them is complete", async () => {
  const cwd = newFolder();
  const users = Array.from({ length: 300 }, (_, at) => ({ username: `user-${at}` }));
  const names = Array.from({ length: 8 }, (_, at) => `a${at}`);
  const killed = await startIdp([], { cwd });
  const { adminToken } = JSON.parse(readFileSync(join(cwd, ".idp/lock.json"), "utf8")) as { adminToken: string };
  const headers = { authorization: `Bearer ${adminToken}`, "content-type": "application/json" };
  const added: string[] = [];
  const adding = names.map(async (name) => {
    const body = JSON.stringify({ name, fixtures: { users } });
    const { status } = await fetch(`${killed.issuer}/_idp/api/issuers`, { method: "POST", headers, body });
    if (status === 201) added.push(name);
    if (added.length === 3) killed.child.kill("SIGKILL");
  });
  await Promise.allSettled(adding);
  await startIdp([], { cwd });
  const listed = JSON.parse((await run(["issuers", "list", "--json"], { cwd })).stdout) as { name: string }[];
  expect(listed.map(({ name }) => name)).toEqual(expect.arrayContaining(added));
  expect(added.length).toBeGreaterThanOrEqual(3);
  for (const issuer of listed) expect(issuer).toMatchObject({ users: 300, clients: 0, problem: null });
  const reset = await run(["reset", "--yes", "--issuer", listed.at(-1)?.name ?? ""], { cwd });
  expect(reset).toMatchObject({ code: 0, stdout: expect.stringContaining("300") });
});
