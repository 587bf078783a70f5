import { afterAll, expect, test } from "vitest";
import { approve, Browser, type Visit } from "../../helpers/browser.ts";
import { call, startInstances } from "../../helpers/instances.ts";
import { authnRequest, certificatesOf, newKey, postedBy, redirectUrl, signedBy } from "../../helpers/saml.ts";

/** SAML at three instances on one PostgreSQL: the balancer sends each request of a sign-in to another one. */

const own = newKey();
const sp = { entityId: "http://localhost:3000/metadata", acs: "http://localhost:3000/acs" };
const saml = { acs: [sp.acs], slo: "http://localhost:3000/slo", certificates: [own.certificate] };
const shared = await startInstances(
  3,
  { users: [{ username: "alice", email: "alice@example.com" }], clients: [{ client_id: sp.entityId, saml }] },
  { atEnd: afterAll },
);
const { issuer, at } = shared;
const sso = `${issuer}/saml/sso`;

test("all have one certificate, also when it is made at three of them at once", async () => {
  const all = await Promise.all([0, 1, 2].map((index) => certificatesOf(at(index))));
  expect(all[0]).toHaveLength(1);
  expect(new Set(all.flat()).size).toBe(1);
});

test("a sign-in and a logout go through all of them, and a request that was kept goes on at another one", async () => {
  const browser = new Browser(issuer);
  const [certificate = ""] = await certificatesOf({ issuer });
  const visit = await approve(browser, await browser.open(redirectUrl(sso, authnRequest(shared, sp), "state")));
  const { xml, response, relayState } = postedBy(visit);
  expect(signedBy(xml, certificate)).toEqual(["Assertion"]);
  expect([response.nameId?.value, relayState]).toEqual(["alice@example.com", "state"]);
  const body = new URLSearchParams({ SAMLRequest: Buffer.from(authnRequest(shared, sp)).toString("base64") });
  const sent = await fetch(sso, { method: "POST", body, redirect: "manual" });
  expect(sent.status).toBe(303);
  expect(postedBy(await browser.open(sent.headers.get("location") ?? "")).response.statuses).toEqual(["Success"]);
  const logout = `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_l1" Version="2.0" IssueInstant="${new Date(Date.now()).toISOString()}"><saml:Issuer>${sp.entityId}</saml:Issuer><saml:NameID>alice@example.com</saml:NameID><samlp:SessionIndex>${response.sessionIndex ?? ""}</samlp:SessionIndex></samlp:LogoutRequest>`;
  const left = await browser.open(redirectUrl(`${issuer}/saml/slo`, logout, undefined, own));
  expect(left.left?.pathname).toBe("/slo");
  for (const index of [0, 1, 2]) expect((await browserAt(index, browser)).page).toBe("login");
});

/** The account page of one instance, with the cookies of a browser. */
async function browserAt(index: number, { cookies }: Browser): Promise<Visit> {
  const browser = new Browser(at(index).issuer);
  for (const [name, value] of cookies) browser.setCookie(name, value);
  return browser.open("/account");
}

test("a new key and a new service provider count at all from then on", async () => {
  const [before = ""] = await certificatesOf(at(0));
  expect(await call(at(0), "POST", "/keys", { saml: true })).toMatchObject({ status: 201 });
  const now = await Promise.all([0, 1, 2].map((index) => certificatesOf(at(index))));
  for (const certificates of now) expect(certificates).toEqual([now[0]?.[0], before]);
  expect(now[0]?.[0]).not.toBe(before);
  const other = { entityId: "urn:other", acs: "http://localhost:3001/acs" };
  const added = await call(at(1), "POST", "/clients", { client_id: other.entityId, saml: { acs: [other.acs] } });
  expect(added.status).toBe(201);
  const browser = new Browser(issuer);
  const visit = await browser.open(redirectUrl(`${issuer}/saml/sso`, authnRequest(shared, other)));
  expect(visit.page).toBe("login");
  const { xml } = postedBy(await approve(browser, visit));
  expect(signedBy(xml, now[0]?.[0] ?? "")).toEqual(["Assertion"]);
});
