import { constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";
import { authnRequest, newKey, redirectUrl, registerSp, signXml } from "../helpers/saml.ts";

/** Messages that cannot be read or proven: the page says which mistake it is. */

const idp = await serve();
const sso = `${idp.issuer}/saml/sso`;
const own = newKey();
const sp = await registerSp(idp);
const xml = authnRequest(idp, sp);

const says = ({ status, page, body }: Visit, words: string): void => {
  expect([status, page]).toEqual([400, "error"]);
  expect(body.replaceAll(/<[^>]+>/g, "").replaceAll("&#39;", "'")).toContain(words);
};
const get = (value: string): Promise<Visit> => new Browser(idp.issuer).open(`${sso}?SAMLRequest=${value}`);
const post = (value: string): Promise<Visit> =>
  new Browser(idp.issuer).open(sso, { method: "POST", body: new URLSearchParams({ SAMLRequest: value }) });
const encoded = (bytes: Buffer): string => encodeURIComponent(bytes.toString("base64"));

/** What a writer gives after a flush: all of the text, and no last block. */
const flushed = deflateRawSync(xml, { finishFlush: constants.Z_SYNC_FLUSH });
/** A message whose base64 has a plus. */
const [withPlus = ""] = Array.from({ length: 50 }, (_, at) =>
  deflateRawSync(authnRequest(idp, sp, { inside: `<!--${at}-->` })).toString("base64"),
).filter((one) => /\+./.test(one));

test.each([
  ["not base64", "%21%21", "is not base64"],
  ["a plus that was not encoded", withPlus, "a + was not percent-encoded"],
  ["neither deflated nor XML", encoded(Buffer.from([7, 7, 7, 7, 7])), "is not deflated (RFC 1951)"],
  ["XML in base64 alone", encoded(Buffer.from(xml)), "is XML that is not deflated"],
  ["a zlib stream", encoded(deflateSync(xml)), "is a zlib stream (RFC 1950)"],
  ["a gzip stream", encoded(gzipSync(xml)), "is a gzip stream (RFC 1952)"],
  ["a stream without its last block", encoded(flushed), "ends too early"],
  ["not UTF-8", encoded(deflateRawSync(Buffer.from([60, 255, 254, 253]))), "is not UTF-8"],
  ["not XML", encoded(deflateRawSync("hello")), "is not XML"],
])("by HTTP-Redirect, %s", async (_, value, words) => {
  says(await get(value), words);
});

test.each([
  ["deflated", deflateRawSync(xml).toString("base64"), "is deflated, which a message by HTTP-POST is not"],
  ["not XML", Buffer.from("hello").toString("base64"), "is not XML"],
])("by HTTP-POST, %s", async (_, value, words) => {
  says(await post(value), words);
});

const signing = await registerSp(idp, { certificates: [own.certificate], require_signed_requests: true });

test("a signature inside a redirected message counts for nothing, and the page says where it belongs", async () => {
  const signed = signXml(authnRequest(idp, signing), own);
  says(await new Browser(idp.issuer).open(redirectUrl(sso, signed)), "by HTTP-Redirect it belongs in the address");
});

test("a RelayState that the signature does not cover is named", async () => {
  const address = redirectUrl(sso, authnRequest(idp, signing), undefined, own);
  says(await new Browser(idp.issuer).open(`${address}&RelayState=x`), "does not cover RelayState");
  // An empty one says nothing: java-saml leaves it out of what it signs.
  expect(await new Browser(idp.issuer).open(`${address}&RelayState=`)).toMatchObject({ status: 200, page: "login" });
});

test("an unsigned request says which metadata makes a library sign, and that metadata does", async () => {
  const visit = await new Browser(idp.issuer).open(redirectUrl(sso, authnRequest(idp, signing)));
  const own = `${idp.issuer}/saml/metadata?sp=${encodeURIComponent(signing.entityId)}`;
  says(visit, own);
  const wants = async (address: string): Promise<string | undefined> =>
    /WantAuthnRequestsSigned="(\w+)"/.exec(await (await fetch(address)).text())?.[1];
  expect(await wants(own)).toBe("true");
  // Another one need not sign.
  expect(await wants(`${idp.issuer}/saml/metadata`)).toBe("false");
  expect(await wants(`${idp.issuer}/saml/metadata?sp=${encodeURIComponent(sp.entityId)}`)).toBe("false");
  expect((await fetch(`${idp.issuer}/saml/metadata?sp=unknown`)).status).toBe(400);
});

test("an index that no address has: the page lists those that are registered", async () => {
  const several = await registerSp(idp, {
    acs: [{ url: "http://localhost:3000/one", index: 3 }, "http://localhost:3000/two"],
  });
  const change = { attributes: { AssertionConsumerServiceURL: null, AssertionConsumerServiceIndex: "7" } };
  const visit = await new Browser(idp.issuer).open(redirectUrl(sso, authnRequest(idp, several, change)));
  says(visit, "index 3: http://localhost:3000/one");
});
