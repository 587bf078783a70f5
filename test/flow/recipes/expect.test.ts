import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as client from "openid-client";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createIdp } from "../../../src/index.ts";
import { newFolder } from "../../helpers/cli.ts";
import { idpHere } from "../../helpers/command.ts";
import { repository } from "../../helpers/readme.ts";

/** The recipes of docs/testing.md on what an app asked, as they are printed, against openid-client 6. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data, port: 0 });
afterAll(() => idp.close());
beforeEach(async () => {
  await idp.reset();
  await idp.requests.clear();
});

const table = /^\| (.+?) +\| `idp (.+?)` +\| `idp (expect .+?)` +\|/gm;
const recipes = new Map(
  [...readFileSync(join(repository, "docs/testing.md"), "utf8").matchAll(table)].map(
    ([, title = "", command = "", expected = ""]) => [title, { command, expected }],
  ),
);
const tested: string[] = [];

function recipe(title: string) {
  tested.push(title);
  const { command = "", expected = "" } = recipes.get(title) ?? {};
  const run = (words: string) => idpHere(["--data", data, ...words.split(" ")]);
  return { happens: () => run(command), expected: () => run(expected) };
}

// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const plainHttp = { execute: [client.allowInsecureRequests] };
const config = await client.discovery(
  new URL(idp.issuer),
  "demo-app",
  undefined,
  client.ClientSecretPost("demo-secret"),
  plainHttp,
);
const tokens = () => idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid email" });

test("the app asked once, not twice", async () => {
  const { happens, expected } = recipe("the app asked once, not twice");
  const { refresh_token: token } = await tokens();
  await happens();
  // Two parts of the app need a new token at once, and share one request.
  let refreshing: ReturnType<typeof client.refreshTokenGrant> | null = null;
  const fresh = () => (refreshing ??= client.refreshTokenGrant(config, token));
  const [one, two] = await Promise.all([fresh(), fresh()]);
  expect(one.access_token).toBe(two.access_token);
  expect(await expected()).toMatchObject({ code: 0 });
  // One that does not is found out.
  await client.refreshTokenGrant(config, one.refresh_token ?? "");
  const { code, stdout } = await expected();
  expect(code).toBe(6);
  expect(stdout).toMatch(
    /^Not met: exactly 1 token request with grant_type refresh_token. The ledger holds 2.\nThese match:\n/,
  );
});

test("revoked mid-session", async () => {
  const { happens, expected } = recipe("revoked mid-session");
  const { access_token: token } = await tokens();
  const userInfo = () => client.fetchUserInfo(config, token, "7123456789012345678");
  await userInfo();
  expect((await expected()).code).toBe(6);
  expect(await happens()).toMatchObject({ code: 0 });
  await expect(userInfo()).rejects.toMatchObject({ status: 403 });
  expect(await expected()).toMatchObject({ code: 0 });
});

test("suspended user", async () => {
  const { happens, expected } = recipe("suspended user");
  const { refresh_token: token } = await tokens();
  expect(await happens()).toMatchObject({ code: 0 });
  await expect(client.refreshTokenGrant(config, token)).rejects.toMatchObject({ error: "invalid_grant" });
  expect(await expected()).toMatchObject({ code: 0 });
});

test("every recipe is tested", () => {
  expect(recipes.size).toBe(3);
  expect(tested).toEqual([...recipes.keys()]);
});
