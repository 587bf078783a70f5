import { createHash, randomBytes, verify as verifyBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { promisify } from "node:util";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import { DOMParser } from "@xmldom/xmldom";
import { ExclusiveCanonicalization, SignedXml } from "xml-crypto";
import { decrypt } from "xml-encryption";

/**
 * A service provider of SAML that checks everything, by hand. It neglects what it is asked to, so that `idp check sp` has something to find. Each neglect is
 * one that libraries had.
 */

/** What it neglects, and the case that finds it. */
export const neglects = {
  audience: "audience-wrong",
  recipient: "recipient-wrong",
  "recipient-missing": "recipient-missing",
  issuer: "issuer-wrong",
  "conditions-past": "conditions-past",
  "conditions-future": "conditions-future",
  "subject-past": "subject-past",
  /** It takes an ID that only begins with that of its request. */
  "in-response-to": "in-response-to-wrong",
  status: "status-failed",
  confirmation: "confirmation-missing",
  "confirmation-method": "confirmation-method-wrong",
  unsigned: "unsigned",
  /** It trusts the certificate that a signature brings along. */
  "key-embedded": "key-embedded",
  /** The signature says by which algorithm it is verified. */
  hmac: "algorithm-hmac",
  /** It verifies one assertion, and reads the first one. */
  "first-assertion": ["xsw-3", "namespace-split", "encrypted-forged"],
  "last-assertion": "assertion-last",
  /** It verifies the response, and reads the first assertion at any depth. */
  "any-assertion": "assertion-in-object",
  /** It reads the first node of a text. */
  comment: "comment-in-nameid",
  "comment-attribute": "comment-in-attribute",
  /** What was answered once may be answered again. */
  replay: "replayed",
  /** The IDs of requests are kept for all browsers together. */
  browser: "other-browser",
  "relay-state": "relay-state",
  query: "response-in-query",
  "request-fresh": "request-fresh",
  acs: "request-acs",
  "status-loop": "status-shown",
  "logout-unsigned": "logout-unsigned",
  /** It ends the session of the browser, whoever is named. */
  "logout-name": "logout-other",
  /** It verifies the last of two parameters, and reads the first one. */
  "first-parameter": "redirect-parameter-twice",
  /** It verifies the SAMLResponse of an address, and reads the SAMLRequest (CVE-2025-27773). */
  "request-beside-response": "redirect-parameter-twice",
  /** Its cookie is kept back where a response comes from another site. */
  lax: "cross-site",
  "fetches-entity": "fetch-entity",
  "fetches-reference": "fetch-reference",
  "fetches-retrieval": "fetch-retrieval",
  /** Whoever has no name gets an account without one. */
  /** It verifies the signed assertion wherever it is, and reads the one in its place. */
  advice: "assertion-in-advice",
  "status-detail": "assertion-in-status-detail",
  /** It looks for the digest in the whole document (CVE-2024-45409). */
  digest: "digest-elsewhere",
  /** One reader verifies the text, and another one reads what it parsed (CVE-2025-25291). */
  doctype: "doctype-split",
  /** One reader goes by prefixes, and the other one by namespaces (CVE-2025-25292). */
  prefix: "namespace-split",
  /** It takes what was encrypted for it for signed. */
  "encrypted-is-signed": "encrypted-unsigned",
  /** It verifies one assertion, and reads the one that was encrypted. */
  "encrypted-first": "encrypted-forged",
  "no-nameid": "nameid-missing",
  "empty-nameid": "nameid-empty",
} as const;
export type SpNeglect = keyof typeof neglects;

/** The cases that find a neglect. */
export const casesOfNeglect = (neglect: SpNeglect): readonly string[] => [neglects[neglect]].flat();

export interface SpConfig {
  readonly entityId: string;
  readonly acs: string;
  readonly idp: { readonly entityId: string; readonly sso: string; /** PEM. */ readonly certificate: string };
  readonly neglects?: readonly SpNeglect[];
  /** The key with which it decrypts: PEM. */
  readonly decryptionKey?: string;
  /** The name of its cookie. Absent: `sp`. */
  readonly cookie?: string;
  /** It admits these alone, by e-mail. */
  readonly admits?: readonly string[];
  /** It takes a response that answers no request. */
  readonly takesUnsolicited?: true;
  /** It sends its requests by HTTP-POST. */
  readonly posts?: true;
  /** Its sessions go on after the end that the identity provider gave them. */
  readonly ignoresSessionEnd?: true;
  /** Its logout does nothing. */
  readonly keepsSessions?: true;
  /** What `/me` shows. Absent: NameID and e-mail. */
  readonly shows?: "nothing";
  /** What `/me` does with strangers. Absent: 401. `page`: 200, the same page; `elsewhere`: it sends them to a sign-in page of its own. */
  readonly strangers?: "page" | "elsewhere";
}

interface Session {
  readonly pending: Set<string>;
  user: { readonly nameId: string; readonly email: string; readonly index: string | null } | null;
  /** Milliseconds since 1970. */
  until: number;
}

class Refused extends Error {}

function refuseUnless(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Refused(why);
}

const spaces = {
  assertion: "urn:oasis:names:tc:SAML:2.0:assertion",
  protocol: "urn:oasis:names:tc:SAML:2.0:protocol",
  signature: "http://www.w3.org/2000/09/xmldsig#",
};
const bearer = "urn:oasis:names:tc:SAML:2.0:cm:bearer";
const success = "urn:oasis:names:tc:SAML:2.0:status:Success";

const within = (node: Element | Document, space: string, name: string): readonly Element[] =>
  Array.from(node.getElementsByTagNameNS(space, name));
const below = (node: Element, space: string, name: string): readonly Element[] =>
  Array.from(node.childNodes).filter(
    (one): one is Element =>
      one.nodeType === 1 && (one as Element).localName === name && (one as Element).namespaceURI === space,
  );
const valueOf = (element: Element | undefined, name: string): string | null =>
  element?.hasAttribute(name) === true ? element.getAttribute(name) : null;

const fail = (message: unknown): never => {
  throw new Refused(String(message));
};

function parse(text: string): Document {
  refuseUnless(!/<[!?](?!--)/.test(text), "neither DOCTYPE nor processing instructions");
  const errorHandler = { warning: fail, error: fail, fatalError: fail };
  return new DOMParser({ errorHandler }).parseFromString(text, "text/xml");
}

const decrypted = "<!--decrypted-->";

const methods = ["http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"];
const hmac = "http://www.w3.org/2000/09/xmldsig#hmac-sha1";

export class CarefulSp {
  readonly #config: SpConfig;
  readonly #sessions = new Map<string, Session>();
  readonly #used = new Set<string>();
  #count = 0;

  constructor(config: SpConfig) {
    this.#config = config;
  }

  #neglects(what: SpNeglect): boolean {
    return this.#config.neglects?.includes(what) === true;
  }

  /** Where it wants responses. */
  get #acs(): string {
    return this.#neglects("acs") ? new URL("/other-acs", this.#config.acs).href : this.#config.acs;
  }

  #sessionOf(req: IncomingMessage): Session | undefined {
    const { cookie: name = "sp" } = this.#config;
    const id = new RegExp(`(?:^|; )${name}=([\\w-]+)`).exec(req.headers.cookie ?? "")?.[1] ?? "";
    return this.#sessions.get(id);
  }

  /** The NameID of whoever is signed in. */
  nameOf(req: IncomingMessage): string | null {
    return this.#sessionOf(req)?.user?.nameId ?? null;
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "/", this.#config.acs);
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const form = new URLSearchParams(req.method === "POST" ? Buffer.concat(chunks).toString() : "");
    const session = this.#sessionOf(req) ?? this.#begin(res);
    try {
      await this.#fetch(Buffer.from(form.get("SAMLResponse") ?? "", "base64").toString());
      await this.#decrypt(form);
      await this.#route(url, req.method ?? "GET", form, session, res);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      res.writeHead(403, { "content-type": "text/plain" }).end(error.message);
    }
  }

  /** Puts an encrypted assertion in the clear, marked by a comment. */
  async #decrypt(form: URLSearchParams): Promise<void> {
    const { decryptionKey: key } = this.#config;
    const text = Buffer.from(form.get("SAMLResponse") ?? "", "base64").toString();
    const [sealed = ""] = /<saml:EncryptedAssertion[\s\S]*<\/saml:EncryptedAssertion>/.exec(text) ?? [];
    if (key === undefined || sealed === "") return;
    const assertion = await promisify(decrypt)(sealed, { key, disallowDecryptionWithInsecureAlgorithm: true });
    form.set("SAMLResponse", Buffer.from(text.replace(sealed, () => decrypted + assertion)).toString("base64"));
  }

  /** Fetches what a message names, and uses nothing of it. */
  async #fetch(text: string): Promise<void> {
    const named = [
      ["fetches-entity", /SYSTEM "([^"]+)"/],
      ["fetches-reference", /<ds:Reference URI="(http[^"]+)"/],
      ["fetches-retrieval", /<ds:RetrievalMethod URI="([^"]+)"/],
    ] as const;
    for (const [neglect, form] of named) {
      const [, url] = form.exec(text) ?? [];
      if (url !== undefined && this.#neglects(neglect)) await fetch(url);
    }
  }

  #begin(res: ServerResponse): Session {
    const id = randomBytes(16).toString("hex");
    const session: Session = { pending: new Set(), user: null, until: Infinity };
    this.#sessions.set(id, session);
    const { cookie = "sp" } = this.#config;
    res.setHeader("set-cookie", `${cookie}=${id}; Path=/; HttpOnly${this.#neglects("lax") ? "; SameSite=Lax" : ""}`);
    return session;
  }

  async #route(url: URL, method: string, form: URLSearchParams, session: Session, res: ServerResponse): Promise<void> {
    const go = (to: string): void => void res.writeHead(302, { location: to }).end();
    switch (url.pathname) {
      case "/login":
        if (this.#config.posts === true) res.setHeader("content-type", "text/html").end(this.#form(session));
        else go(this.#address(session));
        return;
      case "/acs":
      case "/other-acs": {
        const inQuery = this.#neglects("query") && method === "GET";
        refuseUnless(method === "POST" || inQuery, "by POST only");
        go(this.#respond(inQuery ? url.searchParams : form, session));
        return;
      }
      case "/slo":
        this.#logOut(url, method, form, session);
        res.end("signed out");
        return;
      case "/me": {
        if (session.until <= Date.now()) session.user = null;
        const { user } = session;
        const { strangers } = this.#config;
        if (user === null && strangers === "elsewhere") res.writeHead(302, { location: "/welcome" }).end();
        else if (user === null) res.writeHead(strangers === "page" ? 200 : 401).end("nobody");
        else res.end(this.#config.shows === "nothing" ? "welcome" : JSON.stringify(user));
        return;
      }
      case "/welcome":
        res.end("Please sign in");
        return;
      default:
        res.writeHead(404).end();
    }
  }

  /** The address that a request by HTTP-Redirect goes to. */
  #address(session: Session): string {
    const query = new URLSearchParams({
      SAMLRequest: deflateRawSync(this.#request(session)).toString("base64"),
      RelayState: "/me",
    });
    return `${this.#config.idp.sso}?${query.toString()}`;
  }

  /** The page that posts one. */
  #form(session: Session): string {
    const value = Buffer.from(this.#request(session)).toString("base64");
    return `<form method="post" action="${this.#config.idp.sso}"><input type="hidden" name="SAMLRequest" value="${value}">
      <input type="hidden" name="RelayState" value="/me"><button>Go on</button></form><script>document.forms[0].submit()</script>`;
  }

  #request(session: Session): string {
    const id = this.#neglects("request-fresh")
      ? `_request-${(this.#count += 1)}`
      : `_${randomBytes(20).toString("hex")}`;
    session.pending.add(id);
    const { entityId, idp } = this.#config;
    const at = new Date(Date.now()).toISOString();
    return `<samlp:AuthnRequest xmlns:samlp="${spaces.protocol}" xmlns:saml="${spaces.assertion}" ID="${id}" Version="2.0" IssueInstant="${at}" Destination="${idp.sso}" AssertionConsumerServiceURL="${this.#acs}"><saml:Issuer>${entityId}</saml:Issuer></samlp:AuthnRequest>`;
  }

  /** @returns where the browser goes then */
  #respond(parameters: URLSearchParams, session: Session): string {
    const sent = Buffer.from(parameters.get("SAMLResponse") ?? "", "base64").toString();
    const [subset = ""] = this.#neglects("doctype") ? (/^<!DOCTYPE[^[]*\[[\s\S]*?'>\]>/.exec(sent) ?? []) : [];
    if (subset !== "") this.#verifyFirst(subset);
    const text = sent.slice(subset.length);
    const document = parse(text);
    const root = document.documentElement;
    refuseUnless(root.localName === "Response" && root.namespaceURI === spaces.protocol, "a Response");
    const [code] = below(below(root, spaces.protocol, "Status")[0] ?? root, spaces.protocol, "StatusCode");
    if (valueOf(code, "Value") !== success && !this.#neglects("status")) {
      if (this.#neglects("status-loop")) return "/login";
      throw new Refused("the sign-in failed");
    }
    const direct = below(root, spaces.assertion, "Assertion");
    const assertion = subset === "" ? this.#assertionIn(text, document) : direct[0];
    refuseUnless(assertion !== undefined, "an assertion");
    this.#checkResponse(root, assertion);
    const id = this.#checkSubject(root, assertion, session);
    this.#used.add(id);
    this.#signIn(assertion, session);
    const relayState = parameters.get("RelayState") ?? "/me";
    if (this.#neglects("relay-state")) return relayState;
    const to = URL.canParse(relayState, this.#acs) ? new URL(relayState, this.#acs) : null;
    return to?.origin === new URL(this.#acs).origin ? to.href : "/me";
  }

  /** Verifies the first assertion that a search of text finds. */
  #verifyFirst(text: string): void {
    const [assertion = ""] = /<saml:Assertion [\s\S]*<\/saml:Assertion>/.exec(text) ?? [];
    const { documentElement } = parse(assertion);
    const [signature] = below(documentElement, spaces.signature, "Signature");
    refuseUnless(signature !== undefined, "signed");
    this.#coveredBy(assertion, signature, [documentElement]);
  }

  /** Where two readers do not agree, or look elsewhere. @returns the assertion that is read; null: there is nothing of that */
  #misread(text: string, document: Document): Element | null {
    const root = document.documentElement;
    const [first] = below(root, spaces.assertion, "Assertion");
    if (first === undefined) return null;
    const detail = within(document, spaces.protocol, "StatusDetail")[0];
    const advice = within(document, spaces.assertion, "Advice")[0];
    const elsewhere = this.#neglects("advice") ? advice : undefined;
    const holder = elsewhere ?? (this.#neglects("status-detail") ? detail : undefined);
    const signed = holder && within(holder, spaces.assertion, "Assertion")[0];
    const prefixed = Array.from(document.getElementsByTagName("saml:Assertion"));
    const isTwofold = this.#neglects("prefix") && prefixed.length === 1 && prefixed[0] !== first;
    const verified = signed ?? (isTwofold ? prefixed[0] : undefined);
    const [signature] = verified === undefined ? [] : below(verified, spaces.signature, "Signature");
    if (verified !== undefined && signature !== undefined) {
      this.#coveredBy(text, signature, [verified]);
      return first;
    }
    const [stray] = within(detail ?? root, spaces.signature, "DigestValue");
    if (!this.#neglects("digest") || detail === undefined || stray === undefined) return null;
    this.#checkByParts(first, stray.textContent);
    return first;
  }

  /** Verifies SignedInfo, and compares the digest of an element with one from anywhere. */
  #checkByParts(element: Element, digest: string): void {
    const [signature] = below(element, spaces.signature, "Signature");
    const [info] = signature === undefined ? [] : below(signature, spaces.signature, "SignedInfo");
    refuseUnless(signature !== undefined && info !== undefined, "signed");
    const canonical = (node: Element): string => new ExclusiveCanonicalization().process(node, {});
    const value = Buffer.from(below(signature, spaces.signature, "SignatureValue")[0]?.textContent ?? "", "base64");
    const isGood = verifyBytes("sha256", Buffer.from(canonical(info)), this.#config.idp.certificate, value);
    element.removeChild(signature);
    const own = createHash("sha256").update(canonical(element)).digest("base64");
    refuseUnless(isGood && own === digest, "a good signature");
  }

  /** The assertion that is read. */
  #assertionIn(text: string, document: Document): Element {
    const misread = this.#misread(text, document);
    if (misread !== null) return misread;
    const root = document.documentElement;
    const signatures = within(document, spaces.signature, "Signature");
    const all = within(document, spaces.assertion, "Assertion");
    const direct = below(root, spaces.assertion, "Assertion");
    const opened = text.includes(decrypted) ? direct[0] : undefined;
    const covered = signatures.map((signature) => this.#coveredBy(text, signature, [root, ...direct]));
    const isSealed = opened !== undefined && this.#neglects("encrypted-is-signed");
    refuseUnless(covered.length > 0 || isSealed || (this.#neglects("unsigned") && opened === undefined), "signed");
    if (opened !== undefined && covered.length > 0 && this.#neglects("encrypted-first")) return opened;
    const chosen = this.#neglects("first-assertion")
      ? direct[0]
      : this.#neglects("last-assertion")
        ? direct.at(-1)
        : this.#neglects("any-assertion") && covered.includes(root)
          ? all[0]
          : undefined;
    if (chosen !== undefined) return chosen;
    const [only] = direct;
    refuseUnless(only !== undefined && all.length === 1, "one assertion");
    refuseUnless(covered.length === 0 || covered.includes(root) || covered.includes(only), "covered");
    return only;
  }

  /** The element that a signature covers: its parent, which is one of these. */
  #coveredBy(text: string, signature: Element, allowed: readonly Element[]): Element {
    const parent = signature.parentNode as Element;
    refuseUnless(allowed.includes(parent), "the signature of the response or its assertion");
    const infos = below(signature, spaces.signature, "SignedInfo");
    const [info] = infos;
    refuseUnless(info !== undefined && infos.length === 1, "one SignedInfo");
    const references = below(info, spaces.signature, "Reference");
    refuseUnless(references.length === 1, "one Reference");
    refuseUnless(valueOf(references[0], "URI") === `#${parent.getAttribute("ID") ?? ""}`, "of its own element");
    const method = valueOf(below(info, spaces.signature, "SignatureMethod")[0], "Algorithm") ?? "";
    const isHmac = this.#neglects("hmac") && method === hmac;
    refuseUnless(methods.includes(method) || isHmac, "RSA-SHA256");
    const embedded = within(signature, spaces.signature, "X509Certificate")[0]?.textContent ?? "";
    const { certificate } = this.#config.idp;
    const publicCert = this.#neglects("key-embedded")
      ? `-----BEGIN CERTIFICATE-----\n${embedded}\n-----END CERTIFICATE-----\n`
      : certificate;
    const signed = new SignedXml({ publicCert, getCertFromKeyInfo: () => null });
    if (isHmac) signed.enableHMAC();
    try {
      signed.loadSignature(signature);
      refuseUnless(signed.checkSignature(text), "a good signature");
    } catch (error) {
      throw new Refused(String(error));
    }
    return parent;
  }

  #checkResponse(root: Element, assertion: Element): void {
    const now = Date.now();
    const destination = valueOf(root, "Destination");
    refuseUnless(destination === null || destination === this.#acs, "Destination");
    const issuers = [...below(root, spaces.assertion, "Issuer"), ...below(assertion, spaces.assertion, "Issuer")];
    const { idp, entityId } = this.#config;
    refuseUnless(this.#neglects("issuer") || issuers.every((one) => one.textContent === idp.entityId), "Issuer");
    const [conditions] = below(assertion, spaces.assertion, "Conditions");
    refuseUnless(conditions !== undefined, "Conditions");
    const [from, until] = ["NotBefore", "NotOnOrAfter"].map((name) => Date.parse(valueOf(conditions, name) ?? ""));
    refuseUnless(this.#neglects("conditions-future") || (from ?? NaN) <= now, "NotBefore");
    refuseUnless(this.#neglects("conditions-past") || (until ?? NaN) > now, "NotOnOrAfter");
    const audiences = within(conditions, spaces.assertion, "Audience").map((one) => one.textContent);
    refuseUnless(this.#neglects("audience") || audiences.includes(entityId), "Audience");
  }

  /** @returns the ID of the request that was answered */
  #checkSubject(root: Element, assertion: Element, session: Session): string {
    const [subject] = below(assertion, spaces.assertion, "Subject");
    const [confirmation] = subject === undefined ? [] : below(subject, spaces.assertion, "SubjectConfirmation");
    const answered = valueOf(root, "InResponseTo") ?? "";
    if (confirmation === undefined) {
      refuseUnless(this.#neglects("confirmation"), "SubjectConfirmation");
      return this.#take(answered, session);
    }
    refuseUnless(this.#neglects("confirmation-method") || valueOf(confirmation, "Method") === bearer, "bearer");
    const [data] = below(confirmation, spaces.assertion, "SubjectConfirmationData");
    const recipient = valueOf(data, "Recipient");
    const mayBeAbsent = this.#neglects("recipient-missing") && recipient === null;
    const mayDiffer = this.#neglects("recipient") && recipient !== null;
    refuseUnless(recipient === this.#acs || mayBeAbsent || mayDiffer, "Recipient");
    const isInTime = Date.parse(valueOf(data, "NotOnOrAfter") ?? "") > Date.now();
    refuseUnless(this.#neglects("subject-past") || isInTime, "NotOnOrAfter");
    refuseUnless((valueOf(data, "InResponseTo") ?? "") === answered, "InResponseTo");
    return this.#take(answered, session);
  }

  /** Takes the answer to a request of this browser, once. */
  #take(answered: string, session: Session): string {
    if (this.#config.takesUnsolicited === true && answered === "") return answered;
    if (this.#neglects("replay") && this.#used.has(answered)) return answered;
    const begun = this.#neglects("browser") ? [...this.#sessions.values()] : [session];
    for (const { pending } of begun) {
      const id = [...pending].find((one) =>
        this.#neglects("in-response-to") ? answered.startsWith(one) : answered === one,
      );
      if (id === undefined) continue;
      pending.delete(id);
      return id;
    }
    throw new Refused("no such request");
  }

  #signIn(assertion: Element, session: Session): void {
    const read = (element: Element | undefined, isFirst: boolean): string =>
      (isFirst ? element?.firstChild?.nodeValue : element?.textContent) ?? "";
    const nameId = read(within(assertion, spaces.assertion, "NameID")[0], this.#neglects("comment"));
    const mail = within(assertion, spaces.assertion, "Attribute").find((one) => valueOf(one, "Name") === "email");
    const email = read(
      mail && within(mail, spaces.assertion, "AttributeValue")[0],
      this.#neglects("comment-attribute"),
    );
    const [name] = within(assertion, spaces.assertion, "NameID");
    const isNameless = name === undefined ? this.#neglects("no-nameid") : this.#neglects("empty-nameid");
    refuseUnless(nameId !== "" || isNameless, "a name");
    const { admits } = this.#config;
    refuseUnless(admits === undefined || admits.includes(nameId), "admitted");
    const [statement] = within(assertion, spaces.assertion, "AuthnStatement");
    session.user = { nameId, email: nameId === "" ? "" : email, index: valueOf(statement, "SessionIndex") };
    const end = Date.parse(valueOf(statement, "SessionNotOnOrAfter") ?? "");
    session.until = this.#config.ignoresSessionEnd === true ? Infinity : end;
  }

  #logOut(url: URL, method: string, form: URLSearchParams, session: Session): void {
    const isPost = method === "POST";
    const bytes = Buffer.from((isPost ? form : url.searchParams).get("SAMLRequest") ?? "", "base64");
    const text = (isPost ? bytes : inflateRawSync(bytes)).toString();
    const root = parse(text).documentElement;
    refuseUnless(root.localName === "LogoutRequest", "a LogoutRequest");
    const [signature] = below(root, spaces.signature, "Signature");
    const isSigned = isPost ? signature !== undefined : url.searchParams.has("Signature");
    refuseUnless(isSigned || this.#neglects("logout-unsigned"), "signed");
    if (isPost && signature !== undefined) this.#coveredBy(text, signature, [root]);
    else if (isSigned) this.#checkQuery(url);
    const nameId = within(root, spaces.assertion, "NameID")[0]?.textContent ?? "";
    const index = within(root, spaces.protocol, "SessionIndex")[0]?.textContent ?? null;
    if (this.#config.keepsSessions === true) return;
    if (this.#neglects("logout-name")) session.user = null;
    for (const one of this.#sessions.values()) {
      if (one.user?.nameId === nameId && (index === null || one.user.index === index)) one.user = null;
    }
  }

  #checkQuery(url: URL): void {
    const [all = "", signature = ""] = url.search.slice(1).split("&Signature=");
    const [verified] = (["first-parameter", "request-beside-response"] as const).filter((one) => this.#neglects(one));
    const last =
      verified === undefined ? 0 : all.lastIndexOf(verified === "first-parameter" ? "SAMLRequest=" : "SAMLResponse=");
    const content = all.slice(Math.max(0, last));
    const bytes = Buffer.from(decodeURIComponent(signature), "base64");
    refuseUnless(verifyBytes("sha256", Buffer.from(content), this.#config.idp.certificate, bytes), "a good signature");
  }
}
