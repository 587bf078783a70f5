import { afterAll, expect, test } from "vitest";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { newFolder, startIdp, type RunningIdp } from "../helpers/cli.ts";
import { authorizeUrl, exchange, userinfo } from "../helpers/client.ts";

/** Two servers on one machine and one browser, whose cookies ignore ports. */

const one = await startIdp(["--memory"], { cwd: newFolder(afterAll) }, afterAll);
const two = await startIdp(["--memory"], { cwd: newFolder(afterAll) }, afterAll);

async function accessToken(idp: RunningIdp, { left }: Visit): Promise<string> {
  expect(left?.searchParams.get("iss")).toBe(idp.issuer);
  const { status, json } = await exchange(idp, left?.searchParams.get("code") ?? "");
  expect(status).toBe(200);
  return json.access_token;
}

test("alice at one and bob at the other, their sign-ins under way at the same time", async () => {
  const browser = new Browser(one.issuer, two.issuer);
  const [first, second] = [await browser.open(authorizeUrl(one)), await browser.open(authorizeUrl(two))];
  const alice = await accessToken(one, await approve(browser, first, "alice"));
  const bob = await accessToken(two, await approve(browser, second, "bob"));
  expect((await userinfo(one, alice)).json).toMatchObject({ user: { username: "alice" } });
  expect((await userinfo(two, bob)).json).toMatchObject({ user: { username: "bob" } });

  // Neither sign-in ended the other's session: both are sent back without a page.
  await accessToken(one, await browser.open(authorizeUrl(one)));
  await accessToken(two, await browser.open(authorizeUrl(two)));

  // Signing out of one leaves the other alone.
  await browser.press(await browser.open(`${one.issuer}/account`), "account-signout");
  expect(await browser.open(authorizeUrl(one))).toMatchObject({ page: "login" });
  await accessToken(two, await browser.open(authorizeUrl(two)));
});

test("a token of one is refused by the other", async () => {
  const browser = new Browser(one.issuer, two.issuer);
  const token = await accessToken(one, await approve(browser, await browser.open(authorizeUrl(one))));
  expect((await userinfo(one, token)).status).toBe(200);
  expect(await userinfo(two, token)).toMatchObject({ status: 401, json: { error: "invalid_token" } });
});
