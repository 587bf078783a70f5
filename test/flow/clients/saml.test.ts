import { SAML, type SamlConfig } from "@node-saml/passport-saml";
import { expect, test } from "vitest";
import { approve, Browser, formsOf } from "../../helpers/browser.ts";
import type { SamlFields } from "../../../src/core/records/service-providers/schema.ts";
import { serve } from "../../helpers/app.ts";
import { newKey, passwordClass, registerSp } from "../../helpers/saml.ts";

/** node-saml (that of passport-saml) as a service provider, with its own checks all on. */

const idp = await serve();
const { certificate, entity_id: idpIssuer, sso_url: entryPoint, slo_url: logoutUrl } = await idp.call("saml.show", {});
const own = newKey();
const privateKey = own.key.export({ type: "pkcs8", format: "pem" }).toString();

/** Signs alice in, and returns what the library makes of the response. */
async function signIn(fields: SamlFields, config: Partial<SamlConfig>, browser = new Browser(idp.issuer)) {
  const sp = await registerSp(idp, fields);
  const saml = new SAML({
    ...{
      issuer: sp.entityId,
      callbackUrl: sp.acs,
      audience: sp.entityId,
      entryPoint,
      logoutUrl,
      idpIssuer,
      idpCert: certificate,
    },
    ...{ validateInResponseTo: "always" as SamlConfig["validateInResponseTo"] & "always", acceptedClockSkewMs: 0 },
    ...config,
  });
  const url = await saml.getAuthorizeUrlAsync("/after", undefined, {});
  const visit = await approve(browser, await browser.open(url));
  const fieldsOf = Object.fromEntries(formsOf(visit.body)[0]?.fields ?? []);
  expect(fieldsOf["RelayState"]).toBe("/after");
  return { saml, browser, ...(await saml.validatePostResponseAsync(fieldsOf)) };
}

test.each([
  ["assertion", { wantAssertionsSigned: true, wantAuthnResponseSigned: false }],
  ["response", { wantAssertionsSigned: false, wantAuthnResponseSigned: true }],
  ["both", { wantAssertionsSigned: true, wantAuthnResponseSigned: true }],
] as const)("signed: %s", async (sign, config) => {
  const { profile } = await signIn({ sign }, config);
  expect(profile).toMatchObject({ nameID: "alice@example.com", email: "alice@example.com", name: "Alice Adams" });
});

test.each([true, "cbc"] as const)("encrypted: %s", async (encrypt) => {
  const { profile } = await signIn(
    { encrypt, certificates: [own.certificate] },
    { wantAuthnResponseSigned: false, decryptionPvk: privateKey },
  );
  expect(profile).toMatchObject({ nameID: "alice@example.com" });
});

test("with a signed request, the class that libraries ask for, and logout that the app begins", async () => {
  const { profile, saml, browser } = await signIn(
    { certificates: [own.certificate], require_signed_requests: true, slo: "http://localhost:3000/slo" },
    { wantAuthnResponseSigned: false, privateKey, signatureAlgorithm: "sha256", authnContext: [passwordClass] },
  );
  if (profile === null) throw new Error("nobody signed in");
  const { left } = await browser.open(await saml.getLogoutUrlAsync(profile, "", {}));
  const query = Object.fromEntries(left?.searchParams ?? []);
  expect(await saml.validateRedirectAsync(query, left?.search.slice(1) ?? "")).toMatchObject({ loggedOut: true });
  expect((await browser.open("/account")).page).toBe("login");
});
