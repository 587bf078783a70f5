/*
 * core/testing/saml-flaws: responses that are wrong in one respect. signatures.ts changes what is said before it is signed, or the signature. spoil.ts puts
 * the identity of somebody else beside a signature that is valid, and chooses.
 */
import type { User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import type { FlawName } from "../controls/faults/flaw-list.ts";
import { nameIdOf } from "../../records/service-providers/provider.ts";
import { drafted, encrypted, materialOf, postOf, newId, type SamlPost } from "../../saml/response.ts";
import type { SamlPlan } from "../../saml/purpose.ts";
import { signatureFlaws, signedFlaws, type Spoiling } from "./signatures.ts";
import { signElement, escapeXml, xml, Xml } from "../../base/xml/write.ts";
import { assertionXml, responseXml, type AssertionDraft } from "../../saml/draft.ts";

/**
 * The valid signature of the person who signs in, and beside it the identity of somebody else. A service provider that checks one element and reads
 * another signs in the wrong person. The numbers are those of SAML Raider (Somorovsky et al., "On Breaking SAML", 2012).
 */

const signatureForm = /<ds:Signature[ >][\s\S]*<\/ds:Signature>/;

/** A signed text, its signature, and the text without it. */
interface Signed {
  readonly whole: Xml;
  readonly signature: string;
  readonly bare: Xml;
}

function split(whole: Xml): Signed {
  const signature = signatureForm.exec(whole.text)?.[0] ?? "";
  return { whole, signature, bare: new Xml(whole.text.replace(signature, "")) };
}

const signedAssertion = ({ drafts: { assertion }, key }: Spoiling): Signed =>
  split(signElement(assertionXml(assertion), "Assertion", assertion.id, key));

const signedResponse = ({ drafts: { response, assertion }, key }: Spoiling): Signed =>
  split(signElement(responseXml(response, assertionXml(assertion)), "Response", response.id, key));

/** The assertion about the other person, unsigned. @param id absent: one of its own */
function forgedAssertion({ ctx, forged, drafts }: Spoiling, id?: string): Xml {
  const draft: AssertionDraft = { ...(forged ?? drafts).assertion, id: id ?? newId(ctx) };
  return assertionXml(draft);
}

/** Puts something after the Issuer, where a signature stands. */
const afterIssuer = ({ text }: Xml, added: string): Xml => {
  const end = text.indexOf("</saml:Issuer>") + "</saml:Issuer>".length;
  return new Xml(text.slice(0, end) + added + text.slice(end));
};

/** Puts something at the end of an element. */
const atEndOf = (text: string, added: Xml): string => text.replace(/<\/[\w:]+>$/, (end) => added.text + end);

const joined = (...parts: readonly Xml[]): Xml => xml`${parts}`;

/** A response that is not signed itself. */
const unsigned = ({ drafts: { response } }: Spoiling, content: Xml, extensions: Xml | null = null): Xml =>
  responseXml(response, content, extensions);

/** A response about the other person. */
const forgedResponse = (spoiling: Spoiling): Xml =>
  responseXml({ ...spoiling.drafts.response, id: newId(spoiling.ctx) }, forgedAssertion(spoiling));

const object = (content: Xml): Xml => xml`<ds:Object>${content}</ds:Object>`;

/** Splits a signed text where the name of the other person ends. @param rest what becomes of the rest, so that the digest stays as it was */
function cut(text: string, name: string, element: "NameID" | "AttributeValue", rest: (text: string) => string): Xml {
  const begin = escapeXml(name);
  const form = new RegExp(`(<saml:${element}[^>]*>)([^<]*)(</saml:${element}>)`, "g");
  return new Xml(
    text.replaceAll(form, (whole, open: string, value: string, close: string) =>
      value.startsWith(begin) && value !== begin ? `${open}${begin}${rest(value.slice(begin.length))}${close}` : whole,
    ),
  );
}

const nameOf = ({ forged, drafts }: Spoiling): string => {
  const { value } = (forged ?? drafts).assertion.nameId;
  return value instanceof Xml ? value.text : value;
};

const inText = (element: "NameID" | "AttributeValue", rest: (text: string) => string) => async (spoiling: Spoiling) =>
  unsigned(spoiling, cut(signedAssertion(spoiling).whole.text, nameOf(spoiling), element, rest));

/** Canonicalization leaves comments out. */
const afterComment = (text: string): string => `<!---->${text}`;

/**
 * A processing instruction. The canonicalization of xml-crypto takes its content for text; a conforming one keeps the whole instruction
 * (Canonical XML 1.1 2.4).
 */
const inInstruction = (text: string): string => `<?x ${text}?>`;

/** The signature of an assertion that was a document of its own: its reference is empty, which in a response means the whole response. */
function emptyReference(spoiling: Spoiling): Xml {
  const { drafts, key } = spoiling;
  return signElement(assertionXml(drafts.assertion), "Assertion", drafts.assertion.id, key, { emptyReference: true });
}

/** Puts something into the status of a response. */
const inStatusDetail = ({ text }: Xml, detail: string): Xml =>
  new Xml(text.replace("</samlp:Status>", () => `<samlp:StatusDetail>${detail}</samlp:StatusDetail></samlp:Status>`));

/** The signature of the signed assertion on the forged one, whose own digest lies where a search of the whole document finds it first. */
function digestElsewhere(spoiling: Spoiling): Xml {
  const { id } = spoiling.drafts.assertion;
  const forged = split(signElement(forgedAssertion(spoiling, id), "Assertion", id, spoiling.key));
  const [digest = ""] = /<ds:DigestValue>[^<]*<\/ds:DigestValue>/.exec(forged.signature) ?? [];
  const message = unsigned(spoiling, afterIssuer(forged.bare, signedAssertion(spoiling).signature));
  return inStatusDetail(message, digest.replace(">", ' xmlns:ds="http://www.w3.org/2000/09/xmldsig#">'));
}

/** Without its prefix, the namespace is the same to whoever reads namespaces. */
const withoutPrefix = ({ text }: Xml): Xml =>
  new Xml(text.replaceAll(/(<\/?)saml:/g, "$1").replace("xmlns:saml=", "xmlns="));

const forgings = {
  "xsw-1": async (spoiling: Spoiling) => {
    const { signature, bare } = signedResponse(spoiling);
    return afterIssuer(forgedResponse(spoiling), atEndOf(signature, bare));
  },
  "xsw-2": async (spoiling: Spoiling) => {
    const { signature, bare } = signedResponse(spoiling);
    return afterIssuer(forgedResponse(spoiling), bare.text + signature);
  },
  "xsw-3": async (spoiling: Spoiling) =>
    unsigned(spoiling, joined(forgedAssertion(spoiling), signedAssertion(spoiling).whole)),
  "xsw-4": async (spoiling: Spoiling) =>
    unsigned(spoiling, new Xml(atEndOf(forgedAssertion(spoiling).text, signedAssertion(spoiling).whole))),
  "xsw-5": async (spoiling: Spoiling) => {
    const { signature, bare } = signedAssertion(spoiling);
    return unsigned(spoiling, joined(afterIssuer(forgedAssertion(spoiling), signature), bare));
  },
  "xsw-6": async (spoiling: Spoiling) => {
    const { signature, bare } = signedAssertion(spoiling);
    return unsigned(spoiling, afterIssuer(forgedAssertion(spoiling), atEndOf(signature, bare)));
  },
  "xsw-7": async (spoiling: Spoiling) => unsigned(spoiling, signedAssertion(spoiling).whole, forgedAssertion(spoiling)),
  "xsw-8": async (spoiling: Spoiling) => {
    const { signature, bare } = signedAssertion(spoiling);
    return unsigned(spoiling, afterIssuer(forgedAssertion(spoiling), atEndOf(signature, object(bare))));
  },
  "assertion-last": async (spoiling: Spoiling) =>
    unsigned(spoiling, joined(signedAssertion(spoiling).whole, forgedAssertion(spoiling))),
  "assertion-in-extensions": async (spoiling: Spoiling) =>
    unsigned(spoiling, forgedAssertion(spoiling), signedAssertion(spoiling).whole),
  "assertion-in-object": async (spoiling: Spoiling) => {
    const { whole, signature } = signedResponse(spoiling);
    return new Xml(whole.text.replace(signature, () => atEndOf(signature, object(forgedAssertion(spoiling)))));
  },
  "assertion-in-advice": async (spoiling: Spoiling) => {
    const advice = `<saml:Advice>${signedAssertion(spoiling).whole.text}</saml:Advice>`;
    const { text } = forgedAssertion(spoiling);
    return unsigned(spoiling, new Xml(text.replace("</saml:Conditions>", (end) => end + advice)));
  },
  "assertion-in-status-detail": async (spoiling: Spoiling) =>
    inStatusDetail(unsigned(spoiling, forgedAssertion(spoiling)), signedAssertion(spoiling).whole.text),
  "digest-elsewhere": async (spoiling: Spoiling) => digestElsewhere(spoiling),
  /** A reader of text finds the signed assertion in the value of an entity, which nobody uses. */
  "doctype-split": async (spoiling: Spoiling) => {
    const { text } = unsigned(spoiling, forgedAssertion(spoiling));
    return new Xml(`<!DOCTYPE Response [<!ENTITY signed '${signedAssertion(spoiling).whole.text}'>]>${text}`);
  },
  "namespace-split": async (spoiling: Spoiling) =>
    unsigned(spoiling, joined(withoutPrefix(forgedAssertion(spoiling)), signedAssertion(spoiling).whole)),
  "encrypted-forged": async (spoiling: Spoiling) =>
    unsigned(
      spoiling,
      joined(await encrypted(spoiling.provider, forgedAssertion(spoiling)), signedAssertion(spoiling).whole),
    ),
  "id-twice": async (spoiling: Spoiling) =>
    unsigned(
      spoiling,
      joined(forgedAssertion(spoiling, spoiling.drafts.assertion.id), signedAssertion(spoiling).whole),
    ),
  "reference-empty": async (spoiling: Spoiling) =>
    unsigned(spoiling, joined(forgedAssertion(spoiling), emptyReference(spoiling))),
  "comment-in-nameid": inText("NameID", afterComment),
  "pi-in-nameid": inText("NameID", inInstruction),
  "comment-in-attribute": inText("AttributeValue", afterComment),
};

export async function spoilingOf(ctx: Context, plan: SamlPlan): Promise<Omit<Spoiling, "forged">> {
  const material = await materialOf(ctx, plan);
  return { ...material, drafts: drafted(material) };
}

/** Whether a response can have a flaw. */
export function canHave({ drafts, provider }: Pick<Spoiling, "drafts" | "provider">, flaw: FlawName): boolean {
  if (flaw === "encrypted-unsigned" || flaw === "encrypted-forged") return provider.encryption !== null;
  if (flaw === "in-response-to-wrong") return drafts.response.inResponseTo !== null;
  return flaw in signedFlaws || flaw in signatureFlaws || flaw in forgings;
}

/** The response with a flaw. @param forge the username whose identity is forged */
export async function spoilResponse(
  given: Omit<Spoiling, "forged">,
  flaw: FlawName,
  forge: string | undefined,
): Promise<SamlPost> {
  const { ctx } = given;
  const user = forge === undefined ? undefined : await ctx.store.read((tx) => tx.find("users", "username", forge));
  const spoiling = { ...given, forged: user === undefined ? null : forgedDrafts(given, user) };
  const message = await messageOf(spoiling, flaw);
  return postOf(given.plan.request, message, given.drafts.remarks);
}

function messageOf(spoiling: Spoiling, flaw: FlawName): ReturnType<(typeof signedFlaws)[keyof typeof signedFlaws]> {
  const spoil = { ...signedFlaws, ...signatureFlaws, ...forgings }[flaw as keyof typeof signedFlaws] as
    (typeof signedFlaws)[keyof typeof signedFlaws] | undefined;
  if (spoil === undefined) throw new Error(`no response of SAML can have the flaw ${flaw}`);
  return spoil(spoiling);
}

/** Name and attributes of the other person; the rest stays as it is. */
function forgedDrafts(given: Omit<Spoiling, "forged">, user: User): Spoiling["forged"] {
  const { ctx, plan } = given;
  const { nameId: kind, clientId: entityId } = plan.request;
  const nameId = nameIdOf(ctx, { kind, entityId }, user) ?? plan.nameId;
  return drafted({ ...given, user, plan: { ...plan, nameId, userId: user.id } });
}
