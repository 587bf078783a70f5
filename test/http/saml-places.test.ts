import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import { authnRequest, postedBy, postRequest, redirectUrl, registerSp, signInBySaml } from "../helpers/saml.ts";
import { newFolder } from "../helpers/cli.ts";

/** Where SAML is: below the paths of vendors, in other issuers of the process, after a restart and after a restore. */

test.each([
  ["keycloak", "/realms/idp", "/realms/idp/protocol/saml/descriptor", "/realms/idp/protocol/saml"],
  ["entra", "/common/v2.0/saml/metadata", "/common/v2.0/saml/metadata", "/common/v2.0/saml/sso"],
  ["auth0", "/saml/metadata", "/saml/metadata", "/saml/sso"],
  ["okta", "/oauth2/default/saml/metadata", "/oauth2/default/saml/metadata", "/oauth2/default/saml/sso"],
] as const)("with the paths of %s", async (endpoints, entityId, metadata, sso) => {
  const idp = await serve({ fixtures: [{ users: [{ username: "alice" }], settings: { endpoints } }] });
  const base = `http://localhost:${idp.port}`;
  const shown = await idp.call("saml.show", {});
  expect(shown).toMatchObject({ entity_id: base + entityId, metadata_url: base + metadata, sso_url: base + sso });
  const document = await fetch(base + metadata);
  expect(document.headers.get("content-type")).toContain("application/samlmetadata+xml");
  expect(await document.text()).toContain(`entityID="${base}${entityId}"`);
  const sp = await registerSp(idp);
  const request = authnRequest(idp, sp, { attributes: { Destination: base + sso } });
  const browser = new Browser(base);
  const visit = await approve(browser, await browser.open(redirectUrl(base + sso, request)));
  expect(postedBy(visit).response.issuer).toBe(base + entityId);
  expect(postedBy(await postRequest(browser, base + sso, request)).response.statuses).toEqual(["Success"]);
  const logout = request.replaceAll("AuthnRequest", "LogoutRequest").replace(base + sso, shown.slo_url);
  expect((await browser.open(redirectUrl(shown.slo_url, logout))).page).toBe("logout");
});

test("another issuer of the process has a key, service providers and an entityID of its own", async () => {
  const idp = await serve();
  const other = await idp.issuers.add("other", { fixtures: { users: [{ username: "alice" }] } });
  const [own, its] = [await idp.call("saml.show", {}), await other.call("saml.show", {})];
  expect(its.entity_id).toBe(`${other.issuer}/saml/metadata`);
  expect(its.certificate).not.toBe(own.certificate);
  const sp = await registerSp(idp);
  const visit = await new Browser(idp.issuer).open(redirectUrl(`${other.issuer}/saml/sso`, authnRequest(other, sp)));
  expect([visit.status, visit.page]).toEqual([400, "error"]);
});

test("the certificate stays after a restart and after a restore, and lasts ten years of real time", async () => {
  const data = newFolder();
  const first = await serve({ data });
  await first.call("snapshots.save", { name: "before" });
  const { certificate } = await first.call("saml.show", {});
  await first.call("snapshots.restore", { name: "before" });
  expect((await first.call("saml.show", {})).certificate).toBe(certificate);
  await first.close();
  const second = await serve({ data });
  expect((await second.call("saml.show", {})).certificate).toBe(certificate);
});

test("times follow idp clock; the certificate does not", async () => {
  const idp = await serve();
  await idp.clock.set("2050-01-01T00:00:00Z");
  const sp = await registerSp(idp);
  const { response } = await signInBySaml(idp, sp);
  const conditions = response.document.getElementsByTagNameNS("*", "Conditions").item(0);
  expect(conditions?.getAttribute("NotOnOrAfter")).toMatch(/^2050-01-01T00:0/);
  const { X509Certificate } = await import("node:crypto");
  const { validTo } = new X509Certificate((await idp.call("saml.show", {})).certificate);
  expect(new Date(validTo).getFullYear()).toBeLessThan(2045);
});
