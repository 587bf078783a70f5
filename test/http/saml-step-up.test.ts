import { expect, test } from "vitest";
import { enroll, serve } from "../helpers/app.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { authnRequest, passwordClass, postedBy, redirectUrl, registerSp } from "../helpers/saml.ts";

/** A second step that a service provider asks for (RequestedAuthnContext, SAML Core 3.3.2.2.1). */

const mfa = "https://refeds.org/profile/mfa";
const otpOnly = "urn:otp";
const single = "urn:idp:single-factor";
const idp = await serve({
  fixtures: [{ settings: { acr: { [mfa]: ["pwd", "otp"], [otpOnly]: ["otp"] } } }],
});
const user = await enroll(idp, { password: "secret", factors: ["otp"] });
const plain = await enroll(idp, { password: "secret" });

interface Asked {
  readonly classes: readonly string[];
  readonly comparison?: string;
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Opens a request in a browser of its own, or in one that is signed in. */
async function ask({ classes, comparison, attributes = {} }: Asked, browser = new Browser(idp.issuer)) {
  const sp = await registerSp(idp);
  const refs = classes.map((one) => `<saml:AuthnContextClassRef>${one}</saml:AuthnContextClassRef>`).join("");
  const named = comparison === undefined ? "" : ` Comparison="${comparison}"`;
  const inside = `<samlp:RequestedAuthnContext${named}>${refs}</samlp:RequestedAuthnContext>`;
  const request = authnRequest(idp, sp, { inside, attributes });
  return { sp, browser, visit: await browser.open(redirectUrl(`${idp.issuer}/saml/sso`, request)) };
}

const typePassword = (browser: Browser, login: Visit, username = user): Promise<Visit> =>
  browser.press(login, "login-submit", { username, password: "secret" });

async function typeCode(browser: Browser, factor: Visit): Promise<Visit> {
  expect(factor.page).toBe("factor");
  await idp.clock.advance("1m");
  const { code } = await idp.call("users.otp", { username: user });
  return browser.press(factor, "factor-submit", { otp: code });
}

/** What is posted once the person gave a password, and a code where it is asked for. */
async function answered(asked: Asked) {
  const { browser, visit } = await ask(asked);
  const next = await typePassword(browser, visit);
  const wasAsked = next.page === "factor";
  return { wasAsked, ...postedBy(wasAsked ? await typeCode(browser, next) : next).response };
}

test.each<readonly [string, Asked, boolean, string]>([
  ["without a comparison", { classes: [mfa] }, true, mfa],
  ["exact", { classes: [mfa], comparison: "exact" }, true, mfa],
  ["exact, the first that can be met", { classes: ["urn:unknown", mfa, passwordClass] }, true, mfa],
  ["exact, the usual class first", { classes: [passwordClass, mfa] }, false, passwordClass],
  ["minimum of the usual class", { classes: [passwordClass], comparison: "minimum" }, false, passwordClass],
  ["minimum of two steps", { classes: [mfa], comparison: "minimum" }, true, mfa],
  ["better than the usual class", { classes: [passwordClass], comparison: "better" }, true, mfa],
  ["maximum of the usual class", { classes: [passwordClass], comparison: "maximum" }, false, passwordClass],
])(
  "%s: a code is asked for where the class needs it, and the assertion names the class",
  async (_, asked, wasAsked, contextClass) => {
    expect(await answered(asked)).toMatchObject({ statuses: ["Success"], wasAsked, contextClass });
  },
);

test.each<readonly [string, Asked]>([
  ["a class that nobody defined", { classes: ["urn:unknown"] }],
  ["minimum of a class that nobody defined", { classes: ["urn:unknown"], comparison: "minimum" }],
  ["better than two steps", { classes: [mfa], comparison: "better" }],
  ["maximum of a class that nobody defined", { classes: ["urn:unknown"], comparison: "maximum" }],
])("%s: NoAuthnContext, before anybody signs in", async (_, asked) => {
  const { sp, visit } = await ask(asked);
  const { action, response } = postedBy(visit);
  expect([action, response.statuses]).toEqual([sp.acs, ["Responder", "NoAuthnContext"]]);
});

test("a session of one step is asked for the other, one of both is not", async () => {
  const { browser, visit } = await ask({ classes: [single] });
  expect(postedBy(await typePassword(browser, visit)).response.contextClass).toBe(single);
  const raised = await ask({ classes: [mfa] }, browser);
  expect(postedBy(await typeCode(browser, raised.visit)).response.contextClass).toBe(mfa);
  const again = await ask({ classes: [mfa] }, browser);
  expect(postedBy(again.visit).response).toMatchObject({ statuses: ["Success"], contextClass: mfa });
});

test("the picker alone is no password: the person types it, then the code", async () => {
  const { browser, visit } = await ask({ classes: [single] });
  postedBy(await approve(browser, visit, user));
  const raised = await ask({ classes: [mfa] }, browser);
  expect([raised.visit.page, raised.visit.state]).toEqual(["login", "reauth"]);
  const factor = await typePassword(browser, raised.visit);
  expect(postedBy(await typeCode(browser, factor)).response.contextClass).toBe(mfa);
});

test("IsPassive of a session of one step: NoPassive", async () => {
  const { browser, visit } = await ask({ classes: [single] });
  postedBy(await typePassword(browser, visit));
  const passive = await ask({ classes: [mfa], attributes: { IsPassive: "true" } }, browser);
  expect(postedBy(passive.visit).response.statuses).toEqual(["Responder", "NoPassive"]);
});

test("a user who has no codes: NoAuthnContext at the registered address", async () => {
  const { sp, browser, visit } = await ask({ classes: [mfa] });
  const { action, response } = postedBy(await typePassword(browser, visit, plain));
  expect([action, response.statuses]).toEqual([sp.acs, ["Responder", "NoAuthnContext"]]);
});
