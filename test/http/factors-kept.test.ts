import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { pick } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { createIdp, type Idp } from "../../src/index.ts";

/** What is kept of further factors: across a restart, in a snapshot, and by each issuer for itself. */

const clock = testClock();
const seed = {
  users: [{ username: "erin", factors: ["otp" as const] }],
  settings: { acr: { "urn:otp": ["otp" as const] } },
};
type Caller = Pick<Idp, "call">;
const codeOf = async (idp: Caller): Promise<string> => (await idp.call("users.otp", { username: "erin" })).code ?? "";
const secretOf = async (idp: Caller): Promise<string | null> =>
  new URL((await idp.call("users.otp", { username: "erin" })).uri ?? "").searchParams.get("secret");

/** Signs erin in with a code. */
async function proveWith(idp: Idp, otp: string): Promise<Visit> {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const asked = await pick(browser, await browser.open(app.url({ acr_values: "urn:otp" })), "erin");
  expect(asked.page).toBe("factor");
  return browser.press(asked, "factor-submit", { otp });
}

test("after a restart the secret is the same, and a used code stays used", async () => {
  const data = newFolder();
  const options = { port: 0, data, now: clock.now, fixtures: seed };
  const before = await createIdp(options);
  const [used, secret] = [await codeOf(before), await secretOf(before)];
  expect((await proveWith(before, used)).page).toBe("consent");
  await before.close();
  const after = await serve(options);
  expect(await secretOf(after)).toBe(secret);
  expect((await proveWith(after, used)).state).toBe("error-otp");
  expect((await proveWith(after, await codeOf(after))).page).toBe("consent");
});

test("a restored snapshot has the factors and the secret of its time", async () => {
  const idp = await serve({ now: clock.now, fixtures: seed });
  const secret = await secretOf(idp);
  await idp.snapshot("before");
  await idp.call("users.edit", { username: "erin", factors: [], otp_secret: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" });
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  const { left } = await pick(browser, await browser.open(app.url({ acr_values: "urn:otp" })), "erin");
  expect(left?.searchParams.get("error")).toBe("unmet_authentication_requirements");
  await idp.restore("before");
  expect(await secretOf(idp)).toBe(secret);
  expect((await proveWith(idp, await codeOf(idp))).page).toBe("consent");
});

test("users of the same name at two issuers have codes of their own", async () => {
  const idp = await serve({ now: clock.now, fixtures: seed });
  const other = await idp.issuers.add("other", { fixtures: seed });
  expect(await secretOf(other)).not.toBe(await secretOf(idp));
  const code = await codeOf(other);
  expect(code).not.toBe(await codeOf(idp));
  expect((await proveWith(idp, code)).state).toBe("error-otp");
});
