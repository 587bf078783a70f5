import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { decodeSaml, samlTextIn } from "../../src/core/saml/read.ts";
import { Browser } from "../helpers/browser.ts";
import { cpuTimeOf } from "../helpers/cpu-time.ts";
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

/** XML that two parsers read differently, names that look like another, and messages that cost more than their size. */

const { idp, sso, slo } = await samlUnderAttack();

/** Puts something in the root of a message, after its Issuer. */
const inside =
  (piece: string) =>
  (xml: string): string =>
    xml.replace("</saml:Issuer>", () => `</saml:Issuer>${piece}`);

const notWellFormed: readonly (readonly [string, (xml: string) => string])[] = [
  ["NUL in text", inside("<a>\0</a>")],
  ["U+0001 in text", inside("<a>\u0001</a>")],
  ["U+FFFE in text", inside("<a>\ufffe</a>")],
  ["U+0001 in a comment", inside("<!--\u0001-->")],
  ["a reference to U+0001", inside("<a>&#1;</a>")],
  ["a reference to U+FFFE in an attribute", inside("<a b='&#xFFFE;'/>")],
  ["a reference to a surrogate", inside("<a>&#xD800;</a>")],
  ["a reference beyond Unicode", inside("<a>&#x110000;</a>")],
  ["a reference without an end", inside("<a>&#65 </a>")],
  ["< in an attribute", inside("<a b='<'/>")],
  ["a bare & in an attribute", inside("<a b='x & y'/>")],
  ["a bare & in text", inside("<a>x & y</a>")],
  ["an attribute without quotes", inside("<a b=c/>")],
  ["an attribute without a value", inside("<a b/>")],
  ["no white space between attributes", inside("<a b='1'c='2'/>")],
  ["an attribute twice, by two prefixes", inside("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>")],
  ["-- in a comment", inside("<!-- a -- b -->")],
  ["a comment that ends with --->", inside("<!-- a --->")],
  ["a comment without an end", inside("<!-- a")],
  ["]]> in text", inside("<a>]]></a>")],
  ["a CDATA section without an end", inside("<![CDATA[a]]")],
  ["a CDATA section before the root", (xml) => `<![CDATA[a]]>${xml}`],
  ["an undeclared prefix of an element", inside("<p:a/>")],
  ["an undeclared prefix of an attribute", inside("<a p:b=''/>")],
  ["a prefix declared as nothing", inside("<a xmlns:p=''/>")],
  ["the prefix xml declared as another", inside("<a xmlns:xml='urn:x'/>")],
  ["two colons in a name", inside("<a:b:c xmlns:a='u'/>")],
  ["a name that begins with a digit", inside("<1a/>")],
  ["text before the root", (xml) => `x${xml}`],
  ["text after the root", (xml) => `${xml}x`],
  ["a reference after the root", (xml) => `${xml}&#32;`],
  ["U+00A0 after the root", (xml) => `${xml}\u00a0`],
  ["a second root", (xml) => `${xml}<a/>`],
  ["an XML declaration in the root", inside('<?xml version="1.0"?>')],
  ["white space before the XML declaration", (xml) => ` <?xml version="1.0"?>${xml}`],
  ["XML 1.1", (xml) => `<?xml version="1.1"?>${xml}`],
  ["another encoding", (xml) => `<?xml version="1.0" encoding="ISO-8859-1"?>${inside("<a>\u00e9</a>")(xml)}`],
  ["a processing instruction without a name", inside("<? a?>")],
  ["a processing instruction without an end", inside("<?a")],
  ["end tags in another order", inside("<a><b></a></b>")],
  ["an end tag in other letters", (xml) => xml.replace("</samlp:AuthnRequest>", "</samlp:authnrequest>")],
  ["a second byte order mark", (xml) => `\ufeff\ufeff${xml}`],
];

describe("XML that is not well-formed is not read", () => {
  test.each(notWellFormed)("%s", async (_, change) => {
    const sp = await registerSp(idp);
    const xml = change(authnRequest(idp, sp));
    isRefused(await postRequest(new Browser(idp.issuer), sso, xml));
    isRefused(await new Browser(idp.issuer).open(redirectUrl(sso, xml)));
    expect(() => decodeSaml(xml, 0)).toThrow(/this is not a SAML message: it is not (?:well-formed )?XML/);
  });

  test.each(notWellFormed.filter(([name]) => name !== "an end tag in other letters"))(
    "metadata: %s",
    async (_, change) => {
      const entityID = "http://localhost:3999/strict";
      const acs = `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="http://localhost:3999/acs" index="0"/>`;
      // The marker is where the cases put their piece.
      const metadata = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" entityID="${entityID}"><md:Extensions><saml:Issuer>a</saml:Issuer></md:Extensions><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">${acs}</md:SPSSODescriptor></md:EntityDescriptor>`;
      const register = (text: string) =>
        idp.call("seed", { clients: [{ client_id: entityID, saml: { metadata: text } }] });
      await expect(register(change(metadata))).rejects.toThrow(/metadata/);
      await expect(register(metadata)).resolves.toBeDefined();
    },
  );

  test("what is unusual and well-formed is read", async () => {
    const sp = await registerSp(idp);
    const unusual = inside(
      "<?a b?><!-- - -><x:a xmlns:x='u' b = \"&#x41;>'\" x:b='1'\n>]] ]&gt;<![CDATA[<&]]>\u{1f600}&#13;</x:a\t>".replace(
        "- ->",
        "- -->",
      ),
    );
    const xml = `\ufeff<?xml version='1.0' encoding="utf-8" standalone='no' ?>\r\n<!-- a --><?b?>${unusual(authnRequest(idp, sp))}\r\n<!-- c -->\n`;
    expect((await postRequest(new Browser(idp.issuer), sso, xml)).page).toBe("login");
    expect((await new Browser(idp.issuer).open(redirectUrl(sso, xml))).page).toBe("login");
  });

  test("a message for token decode that is not UTF-8 is refused, and not guessed", () => {
    const bytes = Buffer.concat([Buffer.from("<a>"), Buffer.from([0xe9]), Buffer.from("</a>".padEnd(40))]);
    expect(() => samlTextIn(bytes.toString("base64"))).toThrow(/not UTF-8/);
  });
});

/** What surrounds a name so that it looks like another one. */
const around = [" ", "\n", "\t", "\u00a0", "\ufeff", "\u2028", "&#13;", "&#32;"];

describe("names are compared as they are", () => {
  test.each(
    around.flatMap((one) => [
      [`${one}x`, (name: string) => one + name] as const,
      [`x${one}`, (name: string) => name + one] as const,
    ]),
  )("an Issuer with %j around it is not the registered one", async (_, change) => {
    const sp = await registerSp(idp);
    const visit = await new Browser(idp.issuer).open(
      redirectUrl(sso, authnRequest(idp, sp, { issuer: change(sp.entityId) })),
    );
    isRefused(visit);
    expect(visit.body).toContain("no service provider has the entityID");
  });

  test.each(around)("a NameID or SessionIndex with %j after it names no session", async (one) => {
    const own = newKey();
    const sp = await registerSp(idp, { certificates: [own.certificate], slo: "http://localhost:3000/slo" });
    const { browser, response } = await signInBySaml(idp, sp);
    const [name = "", index = ""] = [response.nameId?.value, response.sessionIndex];
    for (const [nameId, sessionIndex] of [
      [name + one, index],
      [name, index + one],
    ] as const) {
      await new Browser(idp.issuer).open(redirectUrl(slo, logoutRequest(sp, nameId, sessionIndex), undefined, own));
      expect((await browser.open("/account")).page).toBe("account");
    }
  });
});

let ids = 0;
const logoutRequest = (sp: Sp, nameId: string, sessionIndex: string, more = ""): string =>
  `<samlp:LogoutRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="_xml${(ids += 1)}" Version="2.0" IssueInstant="${new Date(Date.now()).toISOString()}"><saml:Issuer>${sp.entityId}</saml:Issuer><saml:NameID>${nameId}</saml:NameID><samlp:SessionIndex>${sessionIndex}</samlp:SessionIndex>${more}</samlp:LogoutRequest>`;

/** The piece, as often as it fits. */
const filled = (piece: string | ((at: number) => string), bytes: number): string => {
  let text = "";
  for (let at = 0; text.length < bytes; at += 1) text += typeof piece === "string" ? piece : piece(at);
  return text;
};

/** Each of these took time that grew with the square of the size, or nearly. */
const costly: readonly (readonly [string, (xml: string, bytes: number) => string])[] = [
  ["<? without an end, in the root", (xml, bytes) => inside(filled("<?", bytes))(xml)],
  ["<? and nothing else", (_, bytes) => filled("<?", bytes)],
  ["XML declarations", (_, bytes) => filled('<?xml version="1.0"?>', bytes)],
  ["processing instructions before the root", (xml, bytes) => filled("<?a?>", bytes) + xml],
  ["comments before the root", (xml, bytes) => filled("<!---->", bytes) + xml],
  ["comments after the root", (xml, bytes) => xml + filled("<!---->", bytes)],
  ["many attributes", (xml, bytes) => inside(`<a${filled((at) => ` a${at}=""`, bytes)}/>`)(xml)],
  ["many names", (xml, bytes) => inside(filled((at) => `<a${at}/>`, bytes))(xml)],
  [
    "many namespaces",
    (xml, bytes) => inside(`<a${filled((at) => ` xmlns:p${at}="u"`, bytes / 2)}>${filled("<b/>", bytes / 2)}</a>`)(xml),
  ],
  ["a tag of white space", (xml, bytes) => inside(`<a${" ".repeat(bytes)}x`)(xml)],
];

/** Each of these is cheap where nothing is signed. */
const costlySigned: readonly (readonly [string, string])[] = [
  ["comments", "<!---->"],
  ["elements with the ID that is signed", '<a ID="_same"/>'],
  ["elements with that ID under a prefix", '<p:a p:Id="_same" xmlns:p="u"/>'],
];

describe("the time to read a message grows with its size, not faster", () => {
  test.each(costlySigned)("%s in a message with a signature", async (_, piece) => {
    const own = newKey();
    const sp = await registerSp(idp, { certificates: [own.certificate] });
    const change = { attributes: { ID: "_same" } };
    const signed = signXml(authnRequest(idp, sp, change), own);
    const post = (xml: string) => async () => {
      await postRequest(new Browser(idp.issuer), sso, xml);
    };
    await post(signed)();
    expect(await cpuTimeOf(post(inside(filled(piece, 58_000))(signed)))).toBeLessThan(500);
  });

  test("comments in a signed message are not covered, and change nothing", async () => {
    const own = newKey();
    const sp = await registerSp(idp, { certificates: [own.certificate], require_signed_requests: true });
    const signed = signXml(authnRequest(idp, sp), own);
    const visit = await postRequest(new Browser(idp.issuer), sso, inside("<!-- a --><!-- b -->")(signed));
    expect([visit.status, visit.page]).toEqual([200, "login"]);
    // What only looks like one is covered.
    isRefused(await postRequest(new Browser(idp.issuer), sso, inside("<a><![CDATA[<!-- a -->]]></a>")(signed)));
    isRefused(await postRequest(new Browser(idp.issuer), sso, inside("<?a <!-- a --> ?>")(signed)));
  });

  test.each(costly)("%s", async (_, make) => {
    const sp = await registerSp(idp);
    const browser = new Browser(idp.issuer);
    const ask = (xml: string) => async () => {
      await browser.open(
        `${sso}?SAMLRequest=${encodeURIComponent(deflateRawSync(xml, { level: 9 }).toString("base64"))}`,
      );
    };
    const xml = make(authnRequest(idp, sp), 60_000);
    await ask(authnRequest(idp, sp))();
    // A request of the usual size takes a few milliseconds.
    expect(await cpuTimeOf(ask(xml))).toBeLessThan(400);
  });

  test("marks around a pasted message", async () => {
    const text = `${"'".repeat(300_000)}x`;
    expect(await cpuTimeOf(() => Promise.resolve(samlTextIn(text)))).toBeLessThan(400);
  });
});
