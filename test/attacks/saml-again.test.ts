import { expect, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { heapInUse } from "../helpers/heap.ts";
import {
  authnRequest,
  newKey,
  postRequest,
  redirectUrl,
  registerSp,
  signInBySaml,
  signXml,
  type Sp,
} from "../helpers/saml.ts";
import { samlUnderAttack } from "../helpers/saml-attack.ts";

/** Signed messages of SAML that are sent a second time, late, or after their certificate has gone; and small ones that leave much. */

const start = Date.UTC(2026, 5, 1);
let moved = 0;
const { idp, sso, slo } = await samlUnderAttack({ now: () => start + moved });
const own = newKey();

const at = (later: number): string => new Date(start + moved + later).toISOString();
let ids = 0;
const logoutRequest = (sp: Sp, nameId: string, attributes = ""): string =>
  `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_again${(ids += 1)}" Version="2.0" IssueInstant="${at(0)}"${attributes}><saml:Issuer>${sp.entityId}</saml:Issuer><saml:NameID>${nameId}</saml:NameID></samlp:LogoutRequest>`;

const withLogout = () => registerSp(idp, { certificates: [own.certificate], slo: "http://localhost:3000/slo" });
const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.open("/account")).page === "account";

async function signedIn(sp: Sp) {
  const { browser, response } = await signInBySaml(idp, sp);
  return { browser, name: response.nameId?.value ?? "" };
}

/** Posts a signed request from another site. @returns the address where it goes on */
async function posted(sp: Sp, name: string, attributes = ""): Promise<string> {
  const xml = signXml(logoutRequest(sp, name, attributes), own, undefined, "LogoutRequest");
  const body = new URLSearchParams({ SAMLRequest: Buffer.from(xml).toString("base64") });
  const sent = await fetch(slo, { method: "POST", body, redirect: "manual" });
  expect(sent.status).toBe(303);
  return sent.headers.get("location") ?? "";
}

test.each(["", "NotOnOrAfter"])("a signed LogoutRequest ends one session, and not the next (%s)", async (name) => {
  const sp = await withLogout();
  const first = await signedIn(sp);
  const url = redirectUrl(
    slo,
    logoutRequest(sp, first.name, name === "" ? "" : ` NotOnOrAfter="${at(3_600_000)}"`),
    "r",
    own,
  );
  await new Browser(idp.issuer).open(url);
  expect(await isSignedIn(first.browser)).toBe(false);
  const next = await signedIn(sp);
  for (const later of [0, 200_000, 200_000]) {
    moved += later;
    await new Browser(idp.issuer).open(url);
    expect(await isSignedIn(next.browser)).toBe(true);
  }
});

test("of fifty at once, one counts", async () => {
  const sp = await withLogout();
  const { name } = await signedIn(sp);
  const url = redirectUrl(slo, logoutRequest(sp, name), undefined, own);
  const answers = await Promise.all(
    Array.from({ length: 50 }, async () => (await new Browser(idp.issuer).open(url)).left),
  );
  const wins = answers.map((left) => left?.searchParams.get("SAMLResponse")?.length ?? 0);
  expect(wins.every((length) => length > 0)).toBe(true);
  const records = await idp.call("requests.list", { client: sp.entityId });
  const outcomes = JSON.stringify(records).match(/LogoutResponse (?:Success|Requester)/g) ?? [];
  expect(outcomes.filter((one) => one.endsWith("Success"))).toHaveLength(1);
});

test("one whose IssueInstant is more than five minutes ago, or is missing, ends nothing", async () => {
  const sp = await withLogout();
  const { browser, name } = await signedIn(sp);
  for (const instant of [`IssueInstant="${at(-301_000)}"`, "", 'IssueInstant="soon"']) {
    const xml = logoutRequest(sp, name).replace(/IssueInstant="[^"]+"/, instant);
    await new Browser(idp.issuer).open(redirectUrl(slo, xml, undefined, own));
    expect(await isSignedIn(browser)).toBe(true);
  }
});

test("one that waits for its browser is used once, within ten minutes, in its time, and with its certificate", async () => {
  const sp = await withLogout();
  const first = await signedIn(sp);
  const used = await posted(sp, first.name);
  await first.browser.open(used);
  expect(await isSignedIn(first.browser)).toBe(false);

  const { browser, name } = await signedIn(sp);
  const again = await browser.open(used);
  expect([again.status, again.page]).toEqual([400, "error"]);
  const late = await posted(sp, name, ` NotOnOrAfter="${at(3_600_000)}"`);
  moved += 601_000;
  const gone = await browser.open(late);
  expect([gone.status, gone.page]).toEqual([400, "error"]);
  const past = await posted(sp, name, ` NotOnOrAfter="${at(60_000)}"`);
  moved += 61_000;
  await browser.open(past);
  expect(await isSignedIn(browser)).toBe(true);
  const untrusted = await posted(sp, name);
  await idp.call("seed", {
    clients: [{ client_id: sp.entityId, saml: { acs: [sp.acs], certificates: [newKey().certificate] } }],
  });
  const refused = await browser.open(untrusted);
  expect([refused.status, refused.page]).toEqual([400, "error"]);
  expect(await isSignedIn(browser)).toBe(true);
});

test("an unsigned one that waits for the person ends with its time", async () => {
  const sp = await withLogout();
  const { browser, name } = await signedIn(sp);
  const visit = await browser.open(redirectUrl(slo, logoutRequest(sp, name)));
  expect(visit.page).toBe("logout");
  moved += 601_000;
  expect((await browser.press(visit, "logout-confirm")).status).toBe(400);
  expect(await isSignedIn(browser)).toBe(true);
});

test("a signed AuthnRequest that waits for its browser is checked again", async () => {
  const sp = await withLogout();
  const xml = signXml(authnRequest(idp, sp), own);
  const body = new URLSearchParams({ SAMLRequest: Buffer.from(xml).toString("base64") });
  const sent = await fetch(sso, { method: "POST", body, redirect: "manual" });
  const location = sent.headers.get("location") ?? "";
  expect((await new Browser(idp.issuer).open(location)).page).toBe("login");
  await idp.call("seed", {
    clients: [{ client_id: sp.entityId, saml: { acs: [sp.acs], certificates: [newKey().certificate] } }],
  });
  const refused = await new Browser(idp.issuer).open(location);
  expect([refused.status, refused.page]).toEqual([400, "error"]);
});

const long = "x".repeat(60_000);
const subject = `<saml:Subject><saml:NameID>${long}</saml:NameID></saml:Subject>`;
const classes = `<samlp:RequestedAuthnContext><saml:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef><saml:AuthnContextClassRef>${long}</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>`;

test.each([
  ["an ID of 257 characters", { attributes: { ID: `_${"a".repeat(256)}` } }],
  ["an ID of 60 kB", { attributes: { ID: `_${long}` } }],
  ["a class of 60 kB", { inside: classes }],
  ["a class of 60 kB that nothing reaches", { inside: classes.replace("ac:classes:Password", "ac:classes:None") }],
  ["a Subject of 60 kB", { inside: subject }],
  ["a Subject of 17 kB", { inside: subject.replace(long, long.slice(0, 17_000)) }],
  ["an encrypted Subject of 60 kB", { inside: subject.replaceAll("NameID", "EncryptedID") }],
])("what waits for a person is small: %s is refused", async (_, change) => {
  const sp = await registerSp(idp);
  const visit = await new Browser(idp.issuer).open(redirectUrl(sso, authnRequest(idp, sp, change)));
  expect([visit.status, visit.page]).toEqual([400, "error"]);
  const byPost = await postRequest(new Browser(idp.issuer), sso, authnRequest(idp, sp, change));
  expect(byPost.status).toBe(400);
});

test("an ID of 256 characters and a Subject of 8 kB are answered", async () => {
  const sp = await registerSp(idp);
  const good = authnRequest(idp, sp, { attributes: { ID: `_${"a".repeat(255)}` } });
  expect((await new Browser(idp.issuer).open(redirectUrl(sso, good))).page).toBe("login");
  const unknown = authnRequest(idp, sp, { inside: subject.replace(long, long.slice(0, 8000)) });
  expect((await new Browser(idp.issuer).open(redirectUrl(sso, unknown))).page).toBe("saml-post");
});

test("a refused message leaves what is shown of it, and not the whole", async () => {
  const sp = await registerSp(idp);
  const url = redirectUrl(sso, authnRequest(idp, sp, { attributes: { ID: `_${long}` } }));
  await idp.call("requests.list", {});
  const before = heapInUse();
  const count = 300;
  for (let sent = 0; sent < count; sent += 1) expect((await fetch(url)).status).toBe(400);
  expect((await idp.call("requests.list", {})).length).toBeGreaterThan(count);
  expect((heapInUse() - before) / count).toBeLessThan(45_000);
});
