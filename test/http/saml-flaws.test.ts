import { expect, test } from "vitest";
import { DOMParser } from "@xmldom/xmldom";
import { SignedXml } from "xml-crypto";
import type { SamlFields } from "../../src/core/records/service-providers/schema.ts";
import { serve } from "../helpers/app.ts";
import { certificatesOf, newKey, registerSp, signInBySaml, type Posted, type Sp } from "../helpers/saml.ts";

/** Every flaw of a SAML response: the message is parsed here on its own, and has this one defect and no other. */

const idp = await serve();
const [certificate = ""] = await certificatesOf(idp);
// The attacker's e-mail address begins with that of alice.
await idp.call("seed", { users: [{ username: "mallory", email: "alice@example.com.attacker.test" }] });

const flawNames = async () =>
  (await idp.call("faults.flaws", {})).filter(({ endpoint }) => endpoint === "saml_sso").map(({ name }) => name);

const all = (node: Document | Element, name: string): Element[] => Array.from(node.getElementsByTagNameNS("*", name));
const children = (node: Element, name: string): Element[] =>
  Array.from(node.childNodes).filter(
    (one): one is Element => one.nodeType === 1 && (one as Element).localName === name,
  );
const first = (node: Document | Element, name: string): Element | undefined => all(node, name)[0];
const value = (element: Element | undefined, name: string): string | undefined =>
  element?.hasAttribute(name) === true ? (element.getAttribute(name) ?? undefined) : undefined;

/** Whether a signature covers its parent under the published certificate, by RSA-SHA256, and nothing else is in it. */
function signatureProblem(xml: string, signature: Element): string | null {
  const parent = signature.parentNode as Element;
  if (children(signature, "SignedInfo").length !== 1) return "two SignedInfo";
  const info = children(signature, "SignedInfo")[0] as Element;
  const method = value(children(info, "SignatureMethod")[0], "Algorithm") ?? "";
  if (!method.endsWith("rsa-sha256")) return method.replace(/.*#/, "");
  const digest = first(info, "DigestValue");
  if (digest?.childNodes.length !== 1) return "comment in DigestValue";
  const uri = value(first(info, "Reference"), "URI");
  if (uri === "") return "empty reference";
  if (uri !== `#${parent.getAttribute("ID") ?? ""}`) return "reference elsewhere";
  const embedded = (first(signature, "X509Certificate")?.textContent ?? "").replaceAll(/\s/g, "");
  const published = certificate.replaceAll(/-----[^-]+-----|\s/g, "");
  const signed = new SignedXml({ publicCert: certificate, getCertFromKeyInfo: () => null });
  signed.loadSignature(signature);
  try {
    if (signed.checkSignature(xml)) return null;
  } catch {
    return embedded === published ? "key" : "embedded key";
  }
  return "digest";
}

/** What a careful service provider finds wrong with a response with one assertion. */
function defectsOf(
  { xml, requestId }: Posted & { readonly requestId: string },
  sp: Sp,
  sign: string,
): readonly string[] {
  const found: string[] = [];
  const document = new DOMParser().parseFromString(xml, "text/xml");
  const response = document.documentElement;
  const assertions = all(document, "Assertion");
  const [assertion] = children(response, "Assertion");
  if (assertions.length !== 1 || assertion === undefined) return ["assertions"];
  const must = (isGood: boolean, name: string): void => {
    if (!isGood) found.push(name);
  };
  const expected = sign === "both" ? [response, assertion] : [sign === "response" ? response : assertion];
  for (const element of expected) {
    const [signature] = children(element, "Signature");
    const problem = signature === undefined ? "no signature" : signatureProblem(xml, signature);
    if (problem !== null) found.push(problem);
  }
  must(all(document, "Signature").length <= expected.length, "signatures");
  const codes = all(document, "StatusCode");
  must(codes.length === 1 && value(codes[0], "Value")?.endsWith(":Success") === true, "status");
  must(value(response, "Destination") === sp.acs, "destination");
  must(
    all(document, "Issuer").every((one) => one.textContent === `${idp.issuer}/saml/metadata`),
    "issuer",
  );
  must(value(response, "InResponseTo") === requestId, "response inResponseTo");
  const now = Date.now();
  const [conditions] = all(assertion, "Conditions");
  must(Date.parse(value(conditions, "NotBefore") ?? "") <= now, "notBefore");
  must(Date.parse(value(conditions, "NotOnOrAfter") ?? "") > now, "notOnOrAfter");
  const audiences = all(assertion, "Audience").map((one) => one.textContent);
  if (audiences.length === 0) found.push("no audience");
  else must(audiences.length === 1 && audiences[0] === sp.entityId, "audience");
  const [confirmation] = all(assertion, "SubjectConfirmation");
  if (confirmation === undefined) found.push("no confirmation");
  else {
    must(value(confirmation, "Method") === "urn:oasis:names:tc:SAML:2.0:cm:bearer", "method");
    const data = first(confirmation, "SubjectConfirmationData");
    const recipient = value(data, "Recipient");
    if (recipient === undefined) found.push("no recipient");
    else must(recipient === sp.acs, "recipient");
    must(Date.parse(value(data, "NotOnOrAfter") ?? "") > now, "subject notOnOrAfter");
    must(value(data, "InResponseTo") === requestId, "subject inResponseTo");
  }
  must(first(assertion, "NameID")?.textContent === "bob@example.com", "nameId");
  return found;
}

/** The expected defects of flaws that leave one assertion. */
const expected: Readonly<Record<string, readonly string[]>> = {
  "audience-wrong": ["audience"],
  "audience-missing": ["no audience"],
  "recipient-wrong": ["recipient"],
  "recipient-missing": ["no recipient"],
  "destination-wrong": ["destination"],
  "issuer-wrong": ["issuer"],
  "conditions-past": ["notOnOrAfter"],
  "conditions-future": ["notBefore"],
  "subject-past": ["subject notOnOrAfter"],
  "in-response-to-wrong": ["response inResponseTo", "subject inResponseTo"],
  "status-failed": ["status"],
  "confirmation-missing": ["no confirmation"],
  "confirmation-method-wrong": ["method"],
  unsigned: ["no signature"],
  "content-changed": ["digest", "nameId"],
  "key-other": ["key"],
  "key-embedded": ["embedded key"],
  "algorithm-hmac": ["hmac-sha1"],
  "algorithm-sha1": ["rsa-sha1"],
  "digest-comment": ["comment in DigestValue", "nameId"],
  "signed-info-two": ["two SignedInfo", "nameId"],
  // Nothing is wrong with them but what they say.
  "attributes-missing": [],
  "attributes-empty": [],
};

/** For an app with a certificate alone, and whether anything is signed. */
const encryptedOnes = { "encrypted-unsigned": false, "encrypted-forged": true } as const;

async function spoiled(
  flaw: string,
  saml: SamlFields = {},
  fault: Readonly<Record<string, string>> = {},
  user = "bob",
) {
  const sp = await registerSp(idp, saml);
  await idp.call("faults.add", {
    endpoint: "saml_sso",
    flaw: flaw as "unsigned",
    client: sp.entityId,
    ...fault,
  });
  const posted = await signInBySaml(idp, sp, { user });
  expect(await idp.call("faults.list", {})).toEqual([]);
  return { posted, sp };
}

test("an honest response has no defect", async () => {
  for (const sign of ["assertion", "response", "both"] as const) {
    const sp = await registerSp(idp, { sign });
    expect(defectsOf(await signInBySaml(idp, sp, { user: "bob" }), sp, sign)).toEqual([]);
  }
});

test("every flaw of saml_sso is in one of the tables", async () => {
  const known = [expected, forged, encryptedOnes].flatMap((table) => Object.keys(table));
  expect([...(await flawNames())].sort()).toEqual(known.sort());
});

test.each(Object.entries(expected))("%s", async (flaw, defects) => {
  const { posted, sp } = await spoiled(flaw);
  expect(defectsOf(posted, sp, "assertion")).toEqual(defects);
  expect(posted.action).toBe(sp.acs);
});

test.each(["content-changed", "digest-comment", "signed-info-two"])("%s takes the name of --forge", async (flaw) => {
  const { posted } = await spoiled(flaw, {}, { forge: "alice" });
  expect(posted.response.nameId?.value).toBe("alice@example.com");
});

test("an honest digest is in the comment, and in the second SignedInfo: that of the changed assertion", async () => {
  for (const flaw of ["digest-comment", "signed-info-two"]) {
    const { posted } = await spoiled(flaw, {}, { forge: "alice" });
    const [changed, old] =
      flaw === "digest-comment"
        ? [
            /<ds:DigestValue><!--([^-]+)-->/.exec(posted.xml)?.[1] ?? "",
            /-->([^<]+)<\/ds:DigestValue>/.exec(posted.xml)?.[1] ?? "",
          ]
        : [...posted.xml.matchAll(/<ds:DigestValue>([^<]+)</g)].map(([, digest = ""]) => digest);
    const signatureNode = new DOMParser().parseFromString(posted.xml, "text/xml");
    const value = first(signatureNode, "SignatureValue")?.textContent ?? "";
    // With the new digest in place of the old one, the digest fits, and only the signature is wrong.
    const whole = posted.xml
      .replace(/<ds:SignedInfo>(?:(?!<ds:SignedInfo>)[\s\S])*<\/ds:SignedInfo>(?=<ds:SignedInfo>)/, "")
      .replace(/<!--[^-]+-->/, "")
      .replace(old ?? "", changed ?? "");
    const document = new DOMParser().parseFromString(whole, "text/xml");
    expect(signatureProblem(whole, first(document, "Signature") as Element)).toBe("key");
    expect(value.length).toBeGreaterThan(300);
  }
});

/** Where the assertions are, and whose each is: the path of names above it, and the name in it; `*`: it has a signature of its own. */
function assertionsIn(xml: string): readonly string[] {
  const document = new DOMParser().parseFromString(xml, "text/xml");
  return all(document, "Assertion").map((assertion) => {
    const above: string[] = [];
    for (
      let node = assertion.parentNode as Element | null;
      node?.nodeType === 1;
      node = node.parentNode as Element | null
    )
      above.unshift(node.localName);
    const [subject] = children(assertion, "Subject");
    const name = subject === undefined ? "" : (first(subject, "NameID")?.textContent ?? "").split("@")[0];
    return `${above.join("/")} ${name ?? ""}${children(assertion, "Signature").length > 0 ? "*" : ""}`;
  });
}

/** Whose the element is that the only signature covers, once it is found by its ID; null: no valid signature. */
function coveredUser(xml: string): string | null {
  const document = new DOMParser().parseFromString(xml, "text/xml");
  const [signature] = all(document, "Signature");
  const signed = new SignedXml({ publicCert: certificate, getCertFromKeyInfo: () => null });
  try {
    signed.loadSignature(signature as Element);
    if (!signed.checkSignature(xml)) return null;
  } catch {
    return null;
  }
  const [covered = ""] = signed.getSignedReferences();
  const root = new DOMParser().parseFromString(covered, "text/xml");
  return (first(root, "NameID")?.textContent ?? "").split("@")[0] ?? null;
}

const R = "Response";
/** Bob signs in, and alice is forged. */
const forged: Readonly<Record<string, readonly string[] | null>> = {
  "xsw-1": [`${R}/Signature/${R} bob`, `${R} alice`],
  "xsw-2": [`${R}/${R} bob`, `${R} alice`],
  "xsw-3": [`${R} alice`, `${R} bob*`],
  "xsw-4": [`${R} alice`, `${R}/Assertion bob*`],
  "xsw-5": [`${R} alice*`, `${R} bob`],
  "xsw-6": [`${R} alice*`, `${R}/Assertion/Signature bob`],
  "xsw-7": [`${R}/Extensions alice`, `${R} bob*`],
  "xsw-8": [`${R} alice*`, `${R}/Assertion/Signature/Object bob`],
  "assertion-last": [`${R} bob*`, `${R} alice`],
  "assertion-in-extensions": [`${R}/Extensions bob*`, `${R} alice`],
  "assertion-in-object": [`${R}/Signature/Object alice`, `${R} bob`],
  "assertion-in-advice": [`${R} alice`, `${R}/Assertion/Advice bob*`],
  "assertion-in-status-detail": [`${R}/Status/StatusDetail bob*`, `${R} alice`],
  "namespace-split": [`${R} alice`, `${R} bob*`],
  "digest-elsewhere": null,
  "doctype-split": null,
  "id-twice": [`${R} alice`, `${R} bob*`],
  "reference-empty": [`${R} alice`, `${R} bob*`],
  "comment-in-nameid": null,
  "pi-in-nameid": null,
  "comment-in-attribute": null,
};

test.each(Object.entries(forged).filter(([, places]) => places !== null))("%s", async (flaw, places) => {
  for (const sign of ["assertion", "response", "both"] as const) {
    const { posted, sp } = await spoiled(flaw, { sign }, { forge: "alice" });
    expect(assertionsIn(posted.xml)).toEqual(places);
    expect(all(posted.response.document, "Signature")).toHaveLength(1);
    // The signature is that of the person who signed in, where the parser of xml-crypto takes it at all.
    const isTaken = flaw !== "id-twice" && flaw !== "reference-empty";
    expect(coveredUser(posted.xml)).toBe(isTaken ? "bob" : null);
    expect(new Set(posted.response.statuses)).toEqual(new Set(["Success"]));
    expect(posted.response.destination).toBe(sp.acs);
    const ids = all(posted.response.document, "Assertion").map((one) => one.getAttribute("ID"));
    expect(new Set(ids).size).toBe(flaw === "id-twice" ? 1 : 2);
  }
});

test("the twin of id-twice, and the signature of reference-empty, are valid where they stood alone", async () => {
  for (const flaw of ["id-twice", "reference-empty"]) {
    const { posted } = await spoiled(flaw, {}, { forge: "alice" });
    const alone =
      /<saml:Assertion(?:(?!<saml:Assertion)[\s\S])*<ds:Signature[\s\S]*?<\/saml:Assertion>/.exec(posted.xml)?.[0] ??
      "";
    expect(coveredUser(alone)).toBe("bob");
  }
});

test.each(["comment-in-nameid", "pi-in-nameid", "comment-in-attribute"])("%s", async (flaw) => {
  const { posted } = await spoiled(flaw, {}, { forge: "alice", user: "mallory" }, "mallory");
  const element = flaw === "comment-in-attribute" ? "AttributeValue" : "NameID";
  const cut = all(posted.response.document, element).filter((one) => one.childNodes.length > 1);
  expect(cut).toHaveLength(1);
  const [one] = cut;
  expect(one?.firstChild?.nodeValue).toBe("alice@example.com");
  expect(one?.lastChild?.nodeValue).toBe(".attacker.test");
  expect(one?.childNodes.length).toBe(flaw === "pi-in-nameid" ? 2 : 3);
  expect(one?.childNodes[1]?.nodeType).toBe(flaw === "pi-in-nameid" ? 7 : 8);
  expect(coveredUser(posted.xml)).toBe("alice");
});

test("what a flaw needs is refused when it is added: 422", async () => {
  const add = (fault: object) => idp.call("faults.add", { endpoint: "saml_sso", ...fault } as never);
  await expect(add({ flaw: "xsw-1" })).rejects.toThrow("forge");
  await expect(add({ flaw: "xsw-1", forge: "nobody" })).rejects.toThrow("nobody");
  await expect(add({ flaw: "unsigned", forge: "alice" })).rejects.toThrow("forge");
  await expect(add({ flaw: "comment-in-nameid", forge: "alice" })).rejects.toThrow("user");
  await expect(add({ flaw: "comment-in-nameid", forge: "alice", user: "bob" })).rejects.toThrow("does not begin");
  await expect(idp.call("faults.add", { endpoint: "token", flaw: "xsw-1", forge: "alice" } as never)).rejects.toThrow(
    "saml_sso",
  );
});

test("a flaw is used up by a response that has it: not by a page, a status, or a response that cannot", async () => {
  const sp = await registerSp(idp);
  const { id } = await idp.call("faults.add", {
    endpoint: "saml_sso",
    flaw: "in-response-to-wrong",
    client: sp.entityId,
  });
  const { browser } = await signInBySaml(idp, await registerSp(idp));
  const started = await browser.open(`/saml/start?sp=${encodeURIComponent(sp.entityId)}`);
  expect(started.page).toBe("saml-post");
  expect((await idp.call("faults.list", {})).map((one) => one.id)).toEqual([id]);
  await idp.call("faults.clear", {});
});

test("other faults work at the endpoints of SAML", async () => {
  const sp = await registerSp(idp);
  await idp.call("faults.add", { endpoint: "saml_metadata", status: 503 });
  expect((await fetch(`${idp.issuer}/saml/metadata`)).status).toBe(503);
  await idp.call("faults.add", { endpoint: "saml_start", status: 500, client: sp.entityId });
  expect((await fetch(`${idp.issuer}/saml/start?sp=${encodeURIComponent(sp.entityId)}`)).status).toBe(500);
  await idp.call("faults.add", { endpoint: "saml_slo", status: 502 });
  expect((await fetch(`${idp.issuer}/saml/slo?SAMLRequest=x`)).status).toBe(502);
});

test("attributes without values have no AttributeValue, and a response without attributes has none", async () => {
  const shown = async (flaw: string): Promise<readonly number[]> => {
    const { xml } = (await spoiled(flaw)).posted;
    return ["<saml:Attribute ", "<saml:AttributeValue"].map((begin) => xml.split(begin).length - 1);
  };
  const [empty = 0, values] = await shown("attributes-empty");
  expect([empty > 0, values]).toEqual([true, 0]);
  expect(await shown("attributes-missing")).toEqual([0, 0]);
});

test.each(Object.entries(encryptedOnes))("%s is for an app that decrypts", async (flaw, isSigned) => {
  const saml = { certificates: [newKey().certificate], encrypt: true };
  const { posted } = await spoiled(flaw, saml, isSigned ? { forge: "alice" } : {});
  expect(posted.xml).toContain("<saml:EncryptedAssertion");
  expect(posted.xml.includes("<ds:SignatureValue")).toBe(isSigned);
  const plain = await registerSp(idp);
  const fault = {
    endpoint: "saml_sso",
    flaw: flaw as "unsigned",
    client: plain.entityId,
    ...(isSigned && { forge: "alice" }),
  };
  const { id } = await idp.call("faults.add", fault as { endpoint: "saml_sso"; flaw: "unsigned" });
  expect((await signInBySaml(idp, plain, { user: "bob" })).xml).not.toContain("<saml:EncryptedAssertion");
  await idp.call("faults.remove", { id });
});

test("digest-elsewhere: the digest of the forged assertion is in the status, and SignedInfo is the signed one", async () => {
  const { posted } = await spoiled("digest-elsewhere", {}, { forge: "alice" });
  const document = new DOMParser().parseFromString(posted.xml, "text/xml");
  const [stray, own] = all(document, "DigestValue");
  expect((stray?.parentNode as Element).localName).toBe("StatusDetail");
  expect(assertionsIn(posted.xml)).toEqual([`${R} alice*`]);
  // With that digest in its place, the digest fits, and the signature is what does not.
  const whole = posted.xml.replace(
    `${own?.textContent ?? ""}</ds:DigestValue></ds:Reference>`,
    `${stray?.textContent ?? ""}</ds:DigestValue></ds:Reference>`,
  );
  const signature = first(new DOMParser().parseFromString(whole, "text/xml"), "Signature") as Element;
  expect(signatureProblem(whole, signature)).toBe("key");
});
