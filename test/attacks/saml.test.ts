import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Browser, type Visit } from "../helpers/browser.ts";
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
import { isRefused, samlUnderAttack } from "../helpers/saml-attack.ts";

/** Hostile XML at the endpoints of SAML, and signed messages that were wrapped into others. Nothing is ever posted to an address that is not registered. */

const { idp, sso, slo } = await samlUnderAttack();

const send = (xml: string): Promise<Visit> => postRequest(new Browser(idp.issuer), sso, xml);

describe("XML that is not read", () => {
  test.each<readonly [string, (xml: string) => string]>([
    ["a DOCTYPE", (xml) => `<!DOCTYPE a>${xml}`],
    [
      "an external entity",
      (xml) =>
        `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>${xml.replace("</saml:Issuer>", "&x;</saml:Issuer>")}`,
    ],
    ["entities that grow", (xml) => `<!DOCTYPE a [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>${xml}`],
    ["an entity without a declaration", (xml) => xml.replace("</saml:Issuer>", "&unknown;</saml:Issuer>")],
    ["more than 64 kB", (xml) => xml.replace("</samlp:", `<!--${"x".repeat(65_536)}--></samlp:`)],
    ["more than 64 levels", (xml) => xml.replace("</samlp:", `${"<a>".repeat(64)}${"</a>".repeat(64)}</samlp:`)],
    ["six thousand levels", (xml) => xml.replace("</samlp:", `${"<a>".repeat(6000)}${"</a>".repeat(6000)}</samlp:`)],
    ["an attribute twice", (xml) => xml.replace(' Version="2.0"', ' Version="2.0" Version="2.0"')],
    ["an element that never ends", (xml) => xml.slice(0, -10)],
    ["two roots", (xml) => xml + xml],
    ["no XML", () => "hello"],
    ["a comment in the Issuer", (xml) => xml.replace("</saml:Issuer>", "<!-- -->.evil.test</saml:Issuer>")],
    ["a processing instruction in the Issuer", (xml) => xml.replace("</saml:Issuer>", "<?x y?></saml:Issuer>")],
    ["two Issuers", (xml) => xml.replace("<saml:Issuer>", "<saml:Issuer>urn:other</saml:Issuer><saml:Issuer>")],
  ])("%s", async (_, change) => {
    const sp = await registerSp(idp);
    const xml = change(authnRequest(idp, sp));
    isRefused(await send(xml));
  });

  test("63 levels, comments and processing instructions elsewhere are read", async () => {
    const sp = await registerSp(idp);
    const xml = authnRequest(idp, sp).replace(
      "</samlp:",
      `<?x y?><!-- z -->${"<a>".repeat(62)}${"</a>".repeat(62)}</samlp:`,
    );
    expect((await send(xml)).page).toBe("login");
  });

  test("a message of 6 kB that would inflate to 5 MB is not inflated beyond the limit", async () => {
    const bomb = deflateRawSync(Buffer.alloc(5_000_000, "a"), { level: 9 }).toString("base64");
    expect(bomb.length).toBeLessThan(8000);
    const visit = await new Browser(idp.issuer).open(`${sso}?SAMLRequest=${encodeURIComponent(bomb)}`);
    isRefused(visit);
    expect(visit.body).toContain("more than 64 kB when it is inflated");
  });

  test("what is not base64, bytes that are not UTF-8, and a message twice", async () => {
    const sp = await registerSp(idp);
    const browser = new Browser(idp.issuer);
    isRefused(await browser.open(`${sso}?SAMLRequest=%%%`).catch(() => browser.open(`${sso}?SAMLRequest=***`)));
    isRefused(
      await browser.open(
        `${sso}?SAMLRequest=${encodeURIComponent(deflateRawSync(Buffer.from([0xff, 0xfe, 0x3c])).toString("base64"))}`,
      ),
    );
    const url = redirectUrl(sso, authnRequest(idp, sp));
    isRefused(await browser.open(`${url}&${url.slice(url.indexOf("?") + 1)}`));
  });
});

const protocol =
  'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
const signatureIn = (xml: string): string => /<Signature[\s\S]*<\/Signature>/.exec(xml)?.[0] ?? "";

/** A signed message in one that an attacker made: each way in which libraries were fooled. */
const wrappings: readonly (readonly [string, (signed: string, evil: string) => string])[] = [
  [
    "in Extensions of another",
    (signed, evil) => evil.replace("</saml:Issuer>", `</saml:Issuer><samlp:Extensions>${signed}</samlp:Extensions>`),
  ],
  [
    "in the signature of another",
    (signed, evil) => {
      const signature = signatureIn(signed);
      return evil.replace(
        "</saml:Issuer>",
        `</saml:Issuer>${signature.replace("</Signature>", `<Object>${signed.replace(signature, "")}</Object></Signature>`)}`,
      );
    },
  ],
  [
    "beside another with its signature",
    (signed, evil) =>
      evil.replace("</saml:Issuer>", `</saml:Issuer>${signatureIn(signed)}${signed.replace(signatureIn(signed), "")}`),
  ],
  ["with a second signature", (signed) => signed.replace("</Signature>", `</Signature>${signatureIn(signed)}`)],
  [
    "with an ID that two have",
    (signed, evil) => {
      const id = / ID="([^"]+)"/.exec(signed)?.[1] ?? "";
      return evil
        .replace(/ ID="[^"]+"/, ` ID="${id}"`)
        .replace(
          "</saml:Issuer>",
          `</saml:Issuer>${signatureIn(signed)}<samlp:Extensions>${signed.replace(signatureIn(signed), "")}</samlp:Extensions>`,
        );
    },
  ],
  ["with an empty reference", (signed) => signed.replace(/URI="#[^"]+"/, 'URI=""')],
  ["with a changed attribute", (signed) => signed.replace(' Version="2.0"', ' Version="2.0" ForceAuthn="true"')],
  ["with another Issuer", (signed) => signed.replace(/<saml:Issuer>[^<]+/, "<saml:Issuer>urn:other")],
];

describe("a signed AuthnRequest", () => {
  test.each(wrappings)("%s", async (_, wrap) => {
    const own = newKey();
    const sp = await registerSp(idp, {
      certificates: [own.certificate],
      acs: ["http://localhost:3000/a", "http://localhost:3000/b"],
    });
    const good: Sp = { ...sp, acs: "http://localhost:3000/a" };
    const signed = signXml(authnRequest(idp, good), own);
    expect((await send(signed)).page).toBe("login");
    isRefused(await send(wrap(signed, authnRequest(idp, { ...good, acs: "http://localhost:3000/b" }))));
  });

  test("by HTTP-Redirect: parameters that are spelled in another way, changed, or taken away are not covered", async () => {
    const own = newKey();
    const sp = await registerSp(idp, { certificates: [own.certificate], require_signed_requests: true });
    const browser = new Browser(idp.issuer);
    const url = redirectUrl(sso, authnRequest(idp, sp), "state", own);
    expect((await browser.open(url)).page).toBe("login");
    const evil = encodeURIComponent(deflateRawSync(authnRequest(idp, sp)).toString("base64"));
    for (const changed of [
      url.replace("SAMLRequest=", "%53AMLRequest="),
      url.replace("SAMLRequest=", "SAMLResponse=").replace("?", `?%53AMLRequest=${evil}&`),
      url.replace("RelayState=state", "%52elayState=evil"),
      url.replace("&Signature=", "&%53ignature="),
      url.replace(/SAMLRequest=[^&]+/, `SAMLRequest=${evil}`),
      url.replace("&RelayState=state", ""),
    ])
      isRefused(await browser.open(changed));
  });

  test("a key that the message brings along counts for nothing", async () => {
    const [own, other] = [newKey(), newKey()];
    const sp = await registerSp(idp, { certificates: [own.certificate] });
    isRefused(await send(signXml(authnRequest(idp, sp), other)));
  });
});

describe("a signed LogoutRequest", () => {
  const logoutRequest = (sp: Sp, name: string, index = ""): string =>
    `<samlp:LogoutRequest ${protocol} ID="_l${String(Math.trunc(performance.now() * 1000))}" Version="2.0" IssueInstant="${new Date(Date.now()).toISOString()}"><saml:Issuer>${sp.entityId}</saml:Issuer><saml:NameID>${name}</saml:NameID><samlp:SessionIndex>${index}</samlp:SessionIndex></samlp:LogoutRequest>`;

  test.each(wrappings.filter(([name]) => name !== "with a changed attribute"))(
    "%s ends no session",
    async (_, wrap) => {
      const own = newKey();
      const sp = await registerSp(idp, { certificates: [own.certificate], slo: "http://localhost:3000/slo" });
      const { browser, response } = await signInBySaml(idp, sp);
      const signed = signXml(logoutRequest(sp, "nobody@example.com"), own, undefined, "LogoutRequest");
      const visit = await postRequest(
        new Browser(idp.issuer),
        slo,
        wrap(signed, logoutRequest(sp, "alice@example.com", response.sessionIndex)),
      );
      isRefused(visit);
      expect((await browser.open("/account")).page).toBe("account");
    },
  );

  test("an unsigned one ends no session without the person", async () => {
    const sp = await registerSp(idp, { certificates: [newKey().certificate], slo: "http://localhost:3000/slo" });
    const { browser, response } = await signInBySaml(idp, sp);
    const visit = await new Browser(idp.issuer).open(
      redirectUrl(slo, logoutRequest(sp, "alice@example.com", response.sessionIndex)),
    );
    expect(visit.page).toBe("logout");
    expect((await browser.open("/account")).page).toBe("account");
  });
});
