import { createHmac } from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { authnRequest, newKey, postRequest, redirectUrl, registerSp, rsaSha1, signXml } from "../helpers/saml.ts";
import { isRefused, samlUnderAttack } from "../helpers/saml-attack.ts";

/** A good signature of one AuthnRequest, moved into another or read in another way, as libraries of XML signatures were fooled. */

const { idp, sso } = await samlUnderAttack();
const [own, other] = [newKey(), newKey()];
const sp = await registerSp(idp, {
  ...{ certificates: [own.certificate], require_signed_requests: true },
  acs: ["http://localhost:3000/good", "http://localhost:3000/evil"],
});
const good = authnRequest(idp, { ...sp, acs: "http://localhost:3000/good" });
const signed = signXml(good, own);
const id = / ID="[^"]+"/.exec(good)?.[0] ?? "";
const evil = authnRequest(idp, { ...sp, acs: "http://localhost:3000/evil" }).replace(/ ID="[^"]+"/, id);
const bySomebody = signXml(evil, other);

const within = (xml: string, name: string): string =>
  new RegExp(`<${name}(?=[ >])[^>]*>([\\s\\S]*)</${name}>`).exec(xml)?.[1] ?? "";
const signatureOf = (xml: string): string => /<Signature[ >][\s\S]*<\/Signature>/.exec(xml)?.[0] ?? "";
const [signature, evilDigest] = [signatureOf(signed), within(bySomebody, "DigestValue")];
const evilInfo = within(bySomebody, "SignedInfo");
const reference = /<Reference [\s\S]*<\/Reference>/.exec(bySomebody)?.[0] ?? "";
/** The other request, with the good signature as a function changes it. */
const withSignature = (change: (text: string) => string = (text) => text): string =>
  evil.replace("</saml:Issuer>", () => `</saml:Issuer>${change(signature)}`);
const digest = (inside: string): string =>
  withSignature((text) => text.replace(/<DigestValue>[^<]*<\/DigestValue>/, inside));
const goodDigest = within(signed, "DigestValue");
const space = "http://www.w3.org/2000/09/xmldsig#";

test("the request by itself is accepted, also with its signed parts spelled in another way", async () => {
  expect(evilInfo.length).toBeGreaterThan(100);
  for (const xml of [
    signed,
    signed.replace(/<saml:Issuer>([^<]+)</, "<saml:Issuer><![CDATA[$1]]><"),
    signed.replace("</saml:Issuer>", "</saml:Issuer><!-- a comment -->"),
  ])
    expect((await postRequest(new Browser(idp.issuer), sso, xml)).page).toBe("login");
});

describe("is refused", () => {
  test.each<readonly [string, string]>([
    ["the signature in another request of the same ID", withSignature()],
    [
      "another SignedInfo after its own",
      withSignature((text) => text.replace("</SignedInfo>", `</SignedInfo><SignedInfo>${evilInfo}</SignedInfo>`)),
    ],
    [
      "another SignedInfo before its own",
      withSignature((text) => text.replace("<SignedInfo>", `<SignedInfo>${evilInfo}</SignedInfo><SignedInfo>`)),
    ],
    [
      "a SignedInfo of another namespace",
      withSignature((text) =>
        text.replace("<SignedInfo>", `<x:SignedInfo xmlns:x="urn:x">${evilInfo}</x:SignedInfo><SignedInfo>`),
      ),
    ],
    [
      "a SignedInfo with a prefix",
      withSignature((text) =>
        text.replace("<SignedInfo>", `<d:SignedInfo xmlns:d="${space}">${evilInfo}</d:SignedInfo><SignedInfo>`),
      ),
    ],
    [
      "a SignedInfo in an Object",
      withSignature((text) =>
        text.replace("</Signature>", `<Object><SignedInfo>${evilInfo}</SignedInfo></Object></Signature>`),
      ),
    ],
    ["a second Reference", withSignature((text) => text.replace("</SignedInfo>", `${reference}</SignedInfo>`))],
    [
      "a Reference of another namespace",
      withSignature((text) => text.replace("<Reference", '<x:Reference xmlns:x="urn:x" URI="#z"/><Reference')),
    ],
    ["a digest beside a comment", digest(`<DigestValue>${evilDigest}<!--${goodDigest}--></DigestValue>`)],
    ["a digest behind a comment", digest(`<DigestValue><!--${goodDigest}-->${evilDigest}</DigestValue>`)],
    ["two digests", digest(`<DigestValue>${evilDigest}</DigestValue><DigestValue>${goodDigest}</DigestValue>`)],
    [
      "two digests, the good one first",
      digest(`<DigestValue>${goodDigest}</DigestValue><DigestValue>${evilDigest}</DigestValue>`),
    ],
    [
      "a transform by XSLT",
      signed.replace(
        "<Transforms>",
        '<Transforms><Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>',
      ),
    ],
    [
      "a transform by XPath",
      signed.replace(
        "<Transforms>",
        '<Transforms><Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><XPath>false()</XPath></Transform>',
      ),
    ],
    ["no enveloped-signature", signed.replace(`<Transform Algorithm="${space}enveloped-signature"/>`, "")],
    [
      "an ID with a prefix beside its own",
      evil
        .replace(id, ` ID="_z" xmlns:q="urn:q" q:${id.trim()}`)
        .replace("</saml:Issuer>", `</saml:Issuer>${signature}`),
    ],
    [
      "the certificate as the key of an HMAC",
      evil.replace(
        "</saml:Issuer>",
        () =>
          `</saml:Issuer>${signatureOf(bySomebody)
            .replace("rsa-sha256", "hmac-sha256")
            .replace(
              /<SignatureValue>[^<]*/,
              `<SignatureValue>${createHmac("sha256", own.certificate).update(`<SignedInfo>${evilInfo}</SignedInfo>`).digest("base64")}`,
            )}`,
      ),
    ],
    ["SHA-1", signXml(authnRequest(idp, { ...sp, acs: "http://localhost:3000/good" }), own, rsaSha1)],
    ["a digest by SHA-1", signed.replace("http://www.w3.org/2001/04/xmlenc#sha256", `${space}sha1`)],
    ["a signature of another namespace", signed.replace(`xmlns="${space}"`, 'xmlns="urn:x"')],
    ["a signature in the Issuer", evil.replace("</saml:Issuer>", () => `${signature}</saml:Issuer>`)],
    [
      "an index in place of the address",
      signed.replace(/AssertionConsumerServiceURL="[^"]+"/, 'AssertionConsumerServiceIndex="1"'),
    ],
    ["what was added behind", signed.replace("</samlp:AuthnRequest>", "<samlp:Extensions/></samlp:AuthnRequest>")],
  ])("%s", async (_what, xml) => {
    expect(xml).not.toBe(signed);
    isRefused(await postRequest(new Browser(idp.issuer), sso, xml));
  });

  const url = redirectUrl(sso, good, "state", own);
  const query = url.slice(url.indexOf("?") + 1);
  const another = encodeURIComponent(deflateRawSync(evil).toString("base64"));
  test.each<readonly [string, string]>([
    ["a second SAMLRequest in the address", `${url}&SAMLRequest=${another}`],
    ["a second RelayState in the address", `${url}&RelayState=evil`],
    ["a list of one RelayState", url.replace("RelayState=", "RelayState[]=")],
    ["SHA-1 in the address", redirectUrl(sso, good, "state", { key: own.key, algorithm: rsaSha1 })],
    ["no SigAlg", url.replace(/&SigAlg=[^&]+/, "")],
    ["an inherited name as SigAlg", url.replace(/SigAlg=[^&]+/, "SigAlg=__proto__")],
    ["no Signature", url.replace(/&Signature=[^&]+/, "")],
    ["an empty Signature", url.replace(/Signature=[^&]+/, "Signature=")],
    ["escapes in small letters", url.replaceAll(/%[0-9A-F]{2}/g, (one) => one.toLowerCase())],
    ["the signed query behind another", `${sso}?SAMLRequest=${another}&x=?${query}`],
    ["the signed query behind a semicolon", `${sso}?x=1;${query}`],
    ["another SAMLEncoding", `${url}&SAMLEncoding=x`],
  ])("%s", async (_what, address) => {
    expect((await new Browser(idp.issuer).open(url)).page).toBe("login");
    isRefused(await new Browser(idp.issuer).open(address));
  });
});
