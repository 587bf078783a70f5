import { expect, test } from "vitest";
import { codeAt } from "../../src/core/records/step-up/otp.ts";
import { register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { pick } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";

/** One-time codes as somebody types them (RFC 6238): which are taken, which one is shown, and how many may be wrong. */

const secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
const clock = testClock();
const idp = await serve({ now: clock.now });
await idp.call("seed", {
  users: [{ username: "erin", factors: ["otp"], otp_secret: secret }, { username: "nora" }],
  settings: { acr: { "urn:otp": ["otp"] } },
});

const codeNow = (steps = 0): string => codeAt(secret, Math.floor(clock.now() / 30_000) + steps);
const typeCode = (browser: Browser, visit: Visit, otp: string): Promise<Visit> =>
  browser.press(visit, "factor-submit", { otp });

test("each code is taken once: of the previous, the current and the next step; others are wrong", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  clock.pass(300);
  const ask = async (): Promise<Visit> => {
    const visit = await browser.open(app.url({ acr_values: "urn:otp", max_age: "0" }));
    return visit.page === "login" ? pick(browser, visit, "erin") : visit;
  };
  let visit = await ask();
  for (const wrong of [codeNow(-2), codeNow(2), "", "abc"]) {
    visit = await typeCode(browser, visit, wrong);
    expect(visit).toMatchObject({ status: 401, page: "factor", state: "error-otp" });
  }
  for (const right of [codeNow(1), codeNow(-1), codeNow()]) {
    const done = await typeCode(browser, await ask(), right);
    expect(done.page).not.toBe("factor");
    expect((await typeCode(browser, await ask(), right)).state).toBe("error-otp");
  }
  expect((await ask()).body).not.toContain("factor-code");
});

test("the code that is shown lasts for somebody who types it; one that ends sooner is taken, but not shown", async () => {
  const app = await register(idp);
  // From the beginning of a step on.
  clock.pass(330 - ((clock.now() / 1000) % 30));
  const shown = () => idp.call("users.otp", { username: "erin" });
  /** What the page of a new sign-in prints. */
  const printed = async (): Promise<readonly [Browser, Visit, string | undefined]> => {
    const browser = new Browser(idp.issuer);
    const visit = await pick(browser, await browser.open(app.url({ acr_values: "urn:otp" })), "erin");
    return [browser, visit, /id="factor-code"[^>]*>(\d{6})</.exec(visit.body)?.[1]];
  };
  clock.pass(15);
  expect(await shown()).toMatchObject({ code: codeNow(-1), expiresIn: 15, availableIn: 0 });
  expect((await printed())[2]).toBe(codeNow(-1));
  clock.pass(1);
  expect(await shown()).toMatchObject({ code: codeNow(), expiresIn: 44, availableIn: 0 });
  expect((await printed())[2]).toBe(codeNow());
  for (const code of [codeNow(), codeNow(1)]) {
    const [browser, visit] = await printed();
    expect((await typeCode(browser, visit, code)).page).not.toBe("factor");
  }
  expect(await shown()).toMatchObject({ code: null, expiresIn: null, availableIn: 14 });
  const [browser, visit, none] = await printed();
  expect([none, visit.body]).toEqual([undefined, expect.stringContaining("14 s")]);
  expect((await typeCode(browser, visit, codeNow(-1))).page).not.toBe("factor");
  clock.pass(14);
  expect(await shown()).toMatchObject({ code: codeNow(1), expiresIn: 90, availableIn: 0 });
  await expect(idp.call("users.otp", { username: "nora" })).rejects.toMatchObject({ code: "refused" });
});

test("wrong codes count as guesses", async () => {
  const app = await register(idp);
  const browser = new Browser(idp.issuer);
  clock.pass(300);
  let visit = await pick(browser, await browser.open(app.url({ acr_values: "urn:otp" })), "erin");
  for (let count = 0; count < 30; count += 1) visit = await typeCode(browser, visit, "000000");
  expect((await typeCode(browser, { ...visit, body: visit.body }, codeNow())).status).toBe(429);
  clock.pass(600);
});
