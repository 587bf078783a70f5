import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import { signIn } from "../helpers/client.ts";
import {
  authnRequest,
  certificatesOf,
  formats,
  newKey,
  passwordClass,
  postedBy,
  postRequest,
  redirectUrl,
  registerSp,
  signedBy,
  signInBySaml,
  signXml,
  type RequestChange,
} from "../helpers/saml.ts";

/** A sign-in by SAML, from the AuthnRequest to the assertion. */

const idp = await serve();
const sso = `${idp.issuer}/saml/sso`;
const [certificate = ""] = await certificatesOf(idp);

test("by HTTP-Redirect: the login page, then a signed assertion, posted to the registered address", async () => {
  const sp = await registerSp(idp);
  const before = Date.now();
  const { action, relayState, response, xml, requestId } = await signInBySaml(idp, sp, { relayState: "/deep?a=1&b=ü" });
  const after = Date.now();
  expect(action).toBe(sp.acs);
  expect(relayState).toBe("/deep?a=1&b=ü");
  expect(response).toMatchObject({
    statuses: ["Success"],
    inResponseTo: requestId,
    destination: sp.acs,
    issuer: `${idp.issuer}/saml/metadata`,
    nameId: { value: "alice@example.com", format: formats.email },
    contextClass: passwordClass,
  });
  expect(signedBy(xml, certificate)).toEqual(["Assertion"]);
  expect(response.attributes).toEqual({
    email: ["alice@example.com"],
    name: ["Alice Adams"],
    given_name: ["Alice"],
    family_name: ["Adams"],
  });
  const attributeOf = (name: string, key: string): string =>
    response.document.getElementsByTagNameNS("*", name).item(0)?.getAttribute(key) ?? "";
  expect(attributeOf("SubjectConfirmation", "Method")).toBe("urn:oasis:names:tc:SAML:2.0:cm:bearer");
  expect(attributeOf("SubjectConfirmationData", "Recipient")).toBe(sp.acs);
  expect(attributeOf("SubjectConfirmationData", "InResponseTo")).toBe(requestId);
  const isAfter = (seconds: number, name: string, key: string): void => {
    const at = Date.parse(attributeOf(name, key)) - 1000 * seconds;
    // Times are in whole seconds.
    expect([key, at > before - 1000, at <= after]).toEqual([key, true, true]);
  };
  isAfter(-60, "Conditions", "NotBefore");
  isAfter(300, "Conditions", "NotOnOrAfter");
  isAfter(300, "SubjectConfirmationData", "NotOnOrAfter");
  isAfter(86_400, "AuthnStatement", "SessionNotOnOrAfter");
  expect(response.document.getElementsByTagNameNS("*", "Audience").item(0)?.textContent).toBe(sp.entityId);
  const [{ sid } = { sid: "" }] = (await idp.call("sessions.list", {})).map(({ id }) => ({ sid: id })).slice(-1);
  expect(response.sessionIndex).toBe(sid);
});

test("by HTTP-POST without the session cookie: 303 to a continuation, where the session of the browser counts", async () => {
  const sp = await registerSp(idp);
  const xml = authnRequest(idp, sp);
  const body = new URLSearchParams({ SAMLRequest: Buffer.from(xml).toString("base64"), RelayState: "r" });
  const sent = await fetch(sso, { method: "POST", body, redirect: "manual" });
  expect(sent.status).toBe(303);
  const { browser } = await signIn(idp);
  const visit = await browser.open(sent.headers.get("location") ?? "");
  const { response, relayState } = postedBy(visit);
  expect(response.nameId?.value).toBe("alice@example.com");
  expect(relayState).toBe("r");
  const again = await new Browser(idp.issuer).open("/saml/sso?kept=unknown");
  expect([again.status, again.page]).toEqual([400, "error"]);
  expect(again.body).toContain("begin again in the app");
});

test("a user who is signed in by OpenID Connect is not asked again by SAML, and the reverse", async () => {
  const sp = await registerSp(idp);
  const { browser } = await signIn(idp);
  expect((await postRequest(browser, sso, authnRequest(idp, sp))).page).toBe("saml-post");
  const other = new Browser(idp.issuer);
  await signInBySaml(idp, sp, { browser: other });
  expect((await signIn(idp, { browser: other })).code).not.toBe("");
});

test("the page that posts has its hooks, works without scripts, and lets no other script run", async () => {
  const sp = await registerSp(idp);
  const browser = new Browser(idp.issuer);
  const visit = await approve(browser, await browser.open(redirectUrl(sso, authnRequest(idp, sp), `"><script>`)));
  expect(visit.body).toContain('id="saml-form" data-testid="saml-form"');
  expect(visit.body).toContain('id="saml-submit" data-testid="saml-submit"');
  expect(visit.headers.get("content-security-policy")).toMatch(/script-src 'sha256-/);
  expect(visit.headers.get("content-security-policy")).not.toContain("form-action");
  expect(visit.headers.get("cache-control")).toBe("no-store");
  expect(postedBy(visit).relayState).toBe(`"><script>`);
});

test.each([
  ["response", ["Response"]],
  ["assertion", ["Assertion"]],
  ["both", ["Response", "Assertion"]],
] as const)("sign: %s", async (sign, covered) => {
  const sp = await registerSp(idp, { sign });
  const { xml } = await signInBySaml(idp, sp);
  expect(signedBy(xml, certificate)).toEqual(covered);
});

test.each(["email", "persistent", "transient", "unspecified", "username"] as const)("nameid: %s", async (nameid) => {
  const sp = await registerSp(idp, { nameid });
  const first = await signInBySaml(idp, sp);
  const second = await signInBySaml(idp, sp);
  const expected = {
    email: "alice@example.com",
    persistent: expect.stringMatching(/^[\w-]{43}$/),
    unspecified: "alice@example.com",
    username: "alice",
    transient: first.response.nameId?.value,
  };
  expect(first.response.nameId?.value).toEqual(expected[nameid]);
  expect(first.response.nameId?.format).toBe(nameid === "username" ? formats.unspecified : formats[nameid]);
  if (nameid === "transient") expect(second.response.nameId?.value).not.toBe(first.response.nameId?.value);
  else expect(second.response.nameId?.value).toBe(first.response.nameId?.value);
});

const policy = (format: string): RequestChange => ({ inside: `<samlp:NameIDPolicy Format="${format}"/>` });

test("a requested NameID format wins over nameid; unspecified means nameid", async () => {
  const sp = await registerSp(idp, { nameid: "username" });
  const persistent = (await signInBySaml(idp, sp, policy(formats.persistent))).response.nameId;
  expect(persistent?.format).toBe(formats.persistent);
  expect((await signInBySaml(idp, sp, policy(formats.email))).response.nameId?.value).toBe("alice@example.com");
  expect((await signInBySaml(idp, sp, policy(formats.unspecified))).response.nameId?.value).toBe("alice");
});

test("a persistent name is the same at each sign-in and another at each service provider, and says nothing of the user's id", async () => {
  const [one, other] = [
    await registerSp(idp, { nameid: "persistent" }),
    await registerSp(idp, { nameid: "persistent" }),
  ];
  const nameAt = async (sp: typeof one): Promise<string> => (await signInBySaml(idp, sp)).response.nameId?.value ?? "";
  const names = [await nameAt(one), await nameAt(one), await nameAt(other)];
  const { id } = await idp.call("users.show", { username: "alice" });
  expect(names[0]).toBe(names[1]);
  expect(new Set([...names, id]).size).toBe(3);
});

test("ForceAuthn asks again", async () => {
  const sp = await registerSp(idp);
  const { browser } = await signInBySaml(idp, sp);
  const forced = await browser.open(redirectUrl(sso, authnRequest(idp, sp, { attributes: { ForceAuthn: "true" } })));
  expect([forced.page, forced.state]).toEqual(["login", "reauth"]);
  expect(postedBy(await approve(browser, forced)).response.statuses).toEqual(["Success"]);
});

test("the default class of libraries is met by the picker, and the ledger says so", async () => {
  const sp = await registerSp(idp);
  const inside = `<samlp:RequestedAuthnContext><saml:AuthnContextClassRef>${passwordClass}</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>`;
  const { response } = await signInBySaml(idp, sp, { inside });
  expect(response.contextClass).toBe(passwordClass);
  const records = await idp.call("requests.list", { client: sp.entityId });
  expect(records.some(({ outcome }) => outcome.includes("by picker"))).toBe(true);
});

test("a signed request is taken by its certificate, by HTTP-Redirect and by HTTP-POST", async () => {
  const own = newKey();
  const sp = await registerSp(idp, { certificates: [own.certificate], require_signed_requests: true });
  const browser = new Browser(idp.issuer);
  const visit = await approve(
    browser,
    await browser.open(redirectUrl(sso, authnRequest(idp, sp), "state of mine", own)),
  );
  expect(postedBy(visit).response.statuses).toEqual(["Success"]);
  const posted = await postRequest(browser, sso, signXml(authnRequest(idp, sp), own));
  expect(postedBy(posted).response.statuses).toEqual(["Success"]);
});

test("a sign-in that begins here has no InResponseTo, and returns its target", async () => {
  const sp = await registerSp(idp);
  const browser = new Browser(idp.issuer);
  const visit = await approve(
    browser,
    await browser.open(`/saml/start?${new URLSearchParams({ sp: sp.entityId, target: "/there" }).toString()}`),
  );
  const { response, relayState, action } = postedBy(visit);
  expect([action, relayState, response.inResponseTo]).toEqual([sp.acs, "/there", null]);
  expect(
    response.document.getElementsByTagNameNS("*", "SubjectConfirmationData").item(0)?.hasAttribute("InResponseTo"),
  ).toBe(false);
});

test("an AssertionConsumerServiceIndex chooses the address; without one it is the first", async () => {
  const sp = await registerSp(idp, {
    acs: ["http://localhost:3000/first", { url: "http://localhost:3000/seventh", index: 7 }],
  });
  const byIndex = { attributes: { AssertionConsumerServiceURL: null, AssertionConsumerServiceIndex: "7" } };
  expect((await signInBySaml(idp, sp, byIndex)).action).toBe("http://localhost:3000/seventh");
  expect((await signInBySaml(idp, sp, { attributes: { AssertionConsumerServiceURL: null } })).action).toBe(
    "http://localhost:3000/first",
  );
});
