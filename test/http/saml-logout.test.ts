import { X509Certificate, verify } from "node:crypto";
import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import type { SamlFields } from "../../src/core/records/service-providers/schema.ts";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { signIn } from "../helpers/client.ts";
import {
  certificatesOf,
  newKey,
  postedBy,
  postRequest,
  readResponse,
  redirectUrl,
  registerSp,
  signedBy,
  signInBySaml,
  signXml,
  type Sp,
} from "../helpers/saml.ts";

/** Logout that a service provider begins. */

const idp = await serve();
const slo = `${idp.issuer}/saml/slo`;
const own = newKey();
const [certificate = ""] = await certificatesOf(idp);

interface Named {
  readonly nameId: string;
  readonly sessionIndex?: string | undefined;
  readonly attributes?: string;
}

let ids = 0;
const logoutRequest = (sp: Sp, { nameId, sessionIndex, attributes = "" }: Named): string =>
  `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_logout${(ids += 1)}" Version="2.0" IssueInstant="${new Date(Date.now()).toISOString()}"${attributes}><saml:Issuer>${sp.entityId}</saml:Issuer><saml:NameID>${nameId}</saml:NameID>${sessionIndex === undefined ? "" : `<samlp:SessionIndex>${sessionIndex}</samlp:SessionIndex>`}</samlp:LogoutRequest>`;

const withLogout = (more: SamlFields = {}) =>
  registerSp(idp, { certificates: [own.certificate], slo: "http://localhost:3000/slo", ...more });

async function signedIn(sp: Sp, browser?: Browser) {
  const { response, browser: used } = await signInBySaml(idp, sp, browser === undefined ? {} : { browser });
  return { browser: used, nameId: response.nameId?.value ?? "", sessionIndex: response.sessionIndex };
}

/** The answer in an address, once its signature is good. */
function answerIn(url: URL | null) {
  const query = url?.search.slice(1) ?? "";
  const content = query.slice(0, query.indexOf("&Signature="));
  const signature = Buffer.from(url?.searchParams.get("Signature") ?? "", "base64");
  expect(verify("sha256", Buffer.from(content), new X509Certificate(certificate).publicKey, signature)).toBe(true);
  const xml = inflateRawSync(Buffer.from(url?.searchParams.get("SAMLResponse") ?? "", "base64")).toString();
  return { ...readResponse(xml), relayState: url?.searchParams.get("RelayState") };
}

const isSignedIn = async (browser: Browser): Promise<boolean> => (await browser.open("/account")).page === "account";

test("a signed request ends the session that it names, and gets a signed answer by HTTP-Redirect", async () => {
  const sp = await withLogout();
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  const { left } = await browser.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex }), "back", own));
  expect(`${left?.origin ?? ""}${left?.pathname ?? ""}`).toBe("http://localhost:3000/slo");
  const answer = answerIn(left);
  expect(answer).toMatchObject({
    statuses: ["Success"],
    inResponseTo: `_logout${ids}`,
    destination: "http://localhost:3000/slo",
    relayState: "back",
  });
  expect(await isSignedIn(browser)).toBe(false);
});

test("it needs no cookie, as from another browser", async () => {
  const sp = await withLogout();
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  const other = new Browser(idp.issuer);
  const { left } = await other.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex }), undefined, own));
  expect(answerIn(left).statuses).toEqual(["Success"]);
  expect(await isSignedIn(browser)).toBe(false);
});

test("a service provider that took no part, another NameID, and a name alone of somebody else end nothing", async () => {
  const [sp, other] = [await withLogout(), await withLogout()];
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  for (const request of [
    logoutRequest(other, { nameId, sessionIndex }),
    logoutRequest(sp, { nameId: "bob@example.com", sessionIndex }),
    // Nobody of this name was ever signed in there.
    logoutRequest(sp, { nameId: "bob@example.com" }),
  ]) {
    const { left } = await new Browser(idp.issuer).open(redirectUrl(slo, request, undefined, own));
    expect(answerIn(left).statuses).toEqual(["Requester", "UnknownPrincipal"]);
    expect(await isSignedIn(browser)).toBe(true);
  }
  await new Browser(idp.issuer).open(redirectUrl(slo, logoutRequest(other, { nameId }), undefined, own));
  expect(await isSignedIn(browser)).toBe(true);
});

test("an unsigned request, and one that nobody can check, show the page: staying ends nothing, confirming answers", async () => {
  const sp = await withLogout({ certificates: [] });
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  for (const key of [undefined, own]) {
    const visit = await browser.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex }), undefined, key));
    expect(visit.page).toBe("logout");
    expect((await browser.press(visit, "logout-stay")).page).toBe("account");
  }
  const visit = await browser.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex }), "r"));
  const { left } = await browser.press(visit, "logout-confirm");
  expect(answerIn(left)).toMatchObject({ statuses: ["Success"], relayState: "r" });
  expect(await isSignedIn(browser)).toBe(false);
});

test("by HTTP-POST without cookies it goes on with them", async () => {
  const sp = await withLogout();
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  const body = new URLSearchParams({
    SAMLRequest: Buffer.from(
      signXml(logoutRequest(sp, { nameId, sessionIndex }), own, undefined, "LogoutRequest"),
    ).toString("base64"),
  });
  const sent = await fetch(slo, { method: "POST", body, redirect: "manual" });
  expect(sent.status).toBe(303);
  expect(await isSignedIn(browser)).toBe(true);
  const { left } = await browser.open(sent.headers.get("location") ?? "");
  expect(answerIn(left).statuses).toEqual(["Success"]);
  expect(await isSignedIn(browser)).toBe(false);
});

test("other service providers are not told: PartialLogout, and the pages list them", async () => {
  const [sp, other] = [await withLogout(), await withLogout()];
  const { browser } = await signedIn(other);
  const { nameId, sessionIndex } = await signedIn(sp, browser);
  const unsigned = await browser.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex })));
  expect(unsigned.page).toBe("logout");
  expect(unsigned.body).toMatch(new RegExp(`logout-not-told[\\s\\S]*${other.entityId}`));
  const { left } = await browser.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex }), undefined, own));
  expect(answerIn(left).statuses).toEqual(["Success", "PartialLogout"]);
});

test("the answer goes by the binding that the metadata gives for the address", async () => {
  const md = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="http://localhost:3999/post-slo"><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:SingleLogoutService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="http://localhost:3999/slo" ResponseLocation="http://localhost:3999/slo-done"/><md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="http://localhost:3999/acs" index="0"/></md:SPSSODescriptor></md:EntityDescriptor>`;
  const sp = { entityId: "http://localhost:3999/post-slo", acs: "http://localhost:3999/acs" };
  await idp.call("seed", {
    clients: [{ client_id: sp.entityId, saml: { metadata: md, certificates: [own.certificate] } }],
  });
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  const visit = await postRequest(
    browser,
    slo,
    signXml(logoutRequest(sp, { nameId, sessionIndex }), own, undefined, "LogoutRequest"),
  );
  const posted = postedBy(visit);
  expect(posted.action).toBe("http://localhost:3999/slo-done");
  expect(posted.response.statuses).toEqual(["Success"]);
  expect(signedBy(posted.xml, certificate)).toEqual(["LogoutResponse"]);
});

test("a wrong signature is the page, another Destination or version and an expired request a status", async () => {
  const sp = await withLogout();
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  const wrong = await browser.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex }), undefined, newKey()));
  expect([wrong.status, wrong.page]).toEqual([400, "error"]);
  for (const attributes of [' Destination="http://localhost:1/slo"', ' NotOnOrAfter="2020-01-01T00:00:00Z"']) {
    const { left } = await browser.open(
      redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex, attributes }), undefined, own),
    );
    expect(answerIn(left).statuses).toEqual(["Requester"]);
  }
  const later = logoutRequest(sp, { nameId, sessionIndex }).replace('Version="2.0"', 'Version="2.1"');
  const { left } = await browser.open(redirectUrl(slo, later, undefined, own));
  expect(answerIn(left).statuses).toEqual(["VersionMismatch"]);
  expect(await isSignedIn(browser)).toBe(true);
});

test("a service provider without slo gets no answer: the person sees that they are signed out", async () => {
  const sp = await registerSp(idp, { certificates: [own.certificate] });
  const { browser, nameId, sessionIndex } = await signedIn(sp);
  const visit = await browser.open(redirectUrl(slo, logoutRequest(sp, { nameId, sessionIndex }), undefined, own));
  expect([visit.status, visit.page]).toEqual([200, "signed-out"]);
});

test("a sign-out by OpenID Connect lists the service providers that are not told", async () => {
  const sp = await withLogout();
  const { browser } = await signIn(idp);
  await signedIn(sp, browser);
  const visit = await browser.press(await browser.open("/api/v2/oauth/logout"), "logout-confirm");
  expect(visit.page).toBe("signed-out");
  expect(visit.body).toContain(sp.entityId);
});

test("a session that is over is one that was: Success", async () => {
  const sp = await withLogout();
  const { nameId, sessionIndex } = await signedIn(sp);
  const ask = async (request: string) =>
    answerIn((await new Browser(idp.issuer).open(redirectUrl(slo, request, undefined, own))).left).statuses;
  for (const change of [{ nameId, sessionIndex }, { nameId, sessionIndex }, { nameId }])
    expect(await ask(logoutRequest(sp, change))).toEqual(["Success"]);
});

test("a LogoutResponse, which answers nothing here, is the page that names it and its sender", async () => {
  const sp = await withLogout();
  const response = logoutRequest(sp, { nameId: "alice@example.com" }).replaceAll("LogoutRequest", "LogoutResponse");
  const address = redirectUrl(slo, response, undefined, own).replace("SAMLRequest=", "SAMLResponse=");
  const { status, page, body } = await new Browser(idp.issuer).open(address);
  expect([status, page]).toEqual([400, "error"]);
  expect(body).toContain("LogoutResponse");
  expect(body).toContain(sp.entityId);
});
