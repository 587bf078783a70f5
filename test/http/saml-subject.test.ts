import { expect, test } from "vitest";
import { enroll, serve } from "../helpers/app.ts";
import { approve, Browser } from "../helpers/browser.ts";
import {
  authnRequest,
  certificatesOf,
  formats,
  postedBy,
  redirectUrl,
  registerSp,
  signedBy,
  signInBySaml,
  type Sp,
} from "../helpers/saml.ts";

/** The Subject of an AuthnRequest is a condition: an assertion about this user, or none (SAML Profiles 4.1.4.1). */

const idp = await serve();
const sso = `${idp.issuer}/saml/sso`;
const [certificate = ""] = await certificatesOf(idp);
const named = (value: string, format?: string): string =>
  `<saml:Subject><saml:NameID${format === undefined ? "" : ` Format="${format}"`}>${value}</saml:NameID></saml:Subject>`;
const ask = (sp: Sp, browser: Browser, inside: string, attributes = {}) =>
  browser.open(redirectUrl(sso, authnRequest(idp, sp, { inside, attributes })));
const unknown = ["Responder", "UnknownPrincipal"];

test("in alice's session, a request about alice is answered and one about bob gets the page with bob alone", async () => {
  const sp = await registerSp(idp);
  const { browser } = await signInBySaml(idp, sp);
  const same = postedBy(await ask(sp, browser, named("alice@example.com", formats.email)));
  expect(same.response.nameId?.value).toBe("alice@example.com");
  const visit = await ask(sp, browser, named("bob@example.com", formats.email));
  expect(visit.page).toBe("login");
  expect(visit.body).toContain("bob");
  expect(visit.body).not.toContain("carol");
  const { response } = postedBy(await approve(browser, visit, "bob"));
  expect(response.nameId?.value).toBe("bob@example.com");
});

test("IsPassive in the session of another user: NoPassive", async () => {
  const sp = await registerSp(idp);
  const { browser } = await signInBySaml(idp, sp);
  const { response } = postedBy(await ask(sp, browser, named("bob@example.com"), { IsPassive: "true" }));
  expect(response.statuses).toEqual(["Responder", "NoPassive"]);
});

test("another user who signs in by password: UnknownPrincipal, signed, without an assertion", async () => {
  const strict = await serve({ fixtures: [{ settings: { login: "password" } }] });
  const sp = await registerSp(strict);
  const username = await enroll(strict, { password: "secret" });
  const [own = ""] = await certificatesOf(strict);
  const browser = new Browser(strict.issuer);
  const open = (inside: string) =>
    browser.open(redirectUrl(`${strict.issuer}/saml/sso`, authnRequest(strict, sp, { inside })));
  for (const inside of [named("bob@example.com"), named("nobody@example.com")]) {
    const visit = await open(inside);
    // The page tells nobody whether there is such a user.
    expect(visit.page).toBe("login");
    const posted = postedBy(await browser.press(visit, "login-submit", { username, password: "secret" }));
    expect(posted.response.statuses).toEqual(unknown);
    expect(posted.response.nameId).toBeUndefined();
    expect(signedBy(posted.xml, own)).toEqual(["Response"]);
  }
});

test.each([
  ["nobody has", named("nobody@example.com")],
  [
    "another identity provider gave",
    named("alice@example.com").replace("<saml:NameID", '<saml:NameID NameQualifier="x"'),
  ],
  ["nobody can read", "<saml:Subject><saml:EncryptedID/></saml:Subject>"],
  ["of a format that is not here", named("alice", "urn:oasis:names:tc:SAML:2.0:nameid-format:kerberos")],
])("a name that %s: UnknownPrincipal", async (_, inside) => {
  const sp = await registerSp(idp);
  const posted = postedBy(await ask(sp, new Browser(idp.issuer), inside));
  expect(posted.response.statuses).toEqual(unknown);
  expect(signedBy(posted.xml, certificate)).toEqual(["Response"]);
});

test.each(["persistent", "transient", "username"] as const)(
  "the name of an assertion names its user again: %s",
  async (nameid) => {
    const sp = await registerSp(idp, { nameid });
    const { browser, response } = await signInBySaml(idp, sp);
    const { value = "", format } = response.nameId ?? {};
    const again = postedBy(await ask(sp, browser, named(value, format ?? undefined)));
    expect(again.response.statuses).toEqual(["Success"]);
  },
);

test.each(["emailAddress", "unspecified"])(
  "a format with the version of another one names both: 2.0 %s",
  async (name) => {
    const sp = await registerSp(idp);
    const [sent, right] = ["2.0", "1.1"].map((version) => `urn:oasis:names:tc:SAML:${version}:nameid-format:${name}`);
    for (const inside of [`<samlp:NameIDPolicy Format="${sent ?? ""}"/>`, named("alice@example.com", sent)]) {
      const { response } = postedBy(await ask(sp, new Browser(idp.issuer), inside));
      expect(response.statuses.at(-1)).toMatch(/^(?:InvalidNameIDPolicy|UnknownPrincipal)$/);
      expect(response.statusMessage).toContain(sent);
      expect(response.statusMessage).toContain(right);
    }
  },
);
