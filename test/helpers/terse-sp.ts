import { createPublicKey, randomUUID, verify } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { inflateRawSync } from "node:zlib";
import { DOMParser } from "@xmldom/xmldom";
import { SignedXml } from "xml-crypto";
import type { SpConfig } from "./careful-sp.ts";

/**
 * A service provider in another form than careful-sp.ts. It asks for a persistent NameID by HTTP-POST and shows nothing else, keeps its requests apart from
 * its sessions, refuses by a redirect to a page, sends strangers to the identity provider, and takes logouts by Redirect alone.
 */

/** What it does wrong, or otherwise. */
export type SpHole = "clock" | "unsigned" | "open-logout" | "anybody-logout" | "crashes" | "takes-unsolicited";

const assertionSpace = "urn:oasis:names:tc:SAML:2.0:assertion";
const protocolSpace = "urn:oasis:names:tc:SAML:2.0:protocol";
const signatureSpace = "http://www.w3.org/2000/09/xmldsig#";

class Refused extends Error {}
function need(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Refused(why);
}

const children = (node: Element, space: string, name: string): Element[] =>
  Array.from(node.childNodes).filter(
    (one): one is Element =>
      one.nodeType === 1 && (one as Element).localName === name && (one as Element).namespaceURI === space,
  );

interface Session {
  readonly name: string;
  readonly index: string | null;
  readonly until: number;
}

export class TerseSp {
  readonly #config: SpConfig;
  readonly #holes: readonly SpHole[];
  /** Requests by their IDs: the browser that each was sent by. */
  readonly #asked = new Map<string, string>();
  readonly #used = new Set<string>();
  readonly #sessions = new Map<string, Session>();

  constructor(config: SpConfig, ...holes: readonly SpHole[]) {
    this.#config = config;
    this.#holes = holes;
  }

  #has(hole: SpHole): boolean {
    return this.#holes.includes(hole);
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "/", this.#config.acs);
    let body = "";
    for await (const chunk of req) body += String(chunk);
    const cookie = (name: string): string =>
      new RegExp(`\\b${name}=([\\w-]+)`).exec(req.headers.cookie ?? "")?.[1] ?? "";
    const go = (to: string): void => void res.writeHead(303, { location: to }).end();
    try {
      if (url.pathname === "/login") {
        const browser = randomUUID();
        res.setHeader("set-cookie", `asks=${browser}; HttpOnly; Secure; SameSite=None; Path=/`);
        res.setHeader("content-type", "text/html; charset=utf-8");
        res.end(this.#form(browser));
      } else if (url.pathname === "/acs" && req.method === "POST") {
        const form = new URLSearchParams(body);
        const session = this.#read(Buffer.from(form.get("SAMLResponse") ?? "", "base64").toString(), cookie("asks"));
        const token = randomUUID();
        this.#sessions.set(token, session);
        res.setHeader("set-cookie", [`sid=${token}; HttpOnly; SameSite=Lax; Path=/`, "asks=; Max-Age=0; Path=/"]);
        res.setHeader("content-type", "text/html").end("<meta http-equiv=refresh content='0;url=/me'>");
      } else if (url.pathname === "/slo" && req.method === "GET") {
        this.#logOut(url.search.slice(1), cookie("sid"));
        res.end("good-bye");
      } else if (url.pathname === "/me") {
        const session = this.#sessions.get(cookie("sid"));
        if (session === undefined || session.until < Date.now()) go("/login");
        else res.setHeader("content-type", "application/json").end(JSON.stringify({ id: session.name }));
      } else if (url.pathname === "/failed") {
        res.end("This did not work. Try again.");
      } else {
        res.writeHead(req.method === "GET" ? 404 : 405).end();
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (this.#has("crashes")) throw error;
      go("/failed");
    }
  }

  #form(browser: string): string {
    const id = `id-${randomUUID()}`;
    this.#asked.set(id, browser);
    const { entityId, idp } = this.#config;
    const at = new Date(Date.now()).toISOString();
    const xml = `<AuthnRequest xmlns="${protocolSpace}" ID="${id}" Version="2.0" IssueInstant="${at}"><Issuer xmlns="${assertionSpace}">${entityId}</Issuer><NameIDPolicy Format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent" AllowCreate="true"/></AuthnRequest>`;
    return `<body onload="document.forms[0].submit()"><form action="${idp.sso}" method="POST"><input name="SAMLRequest" type="hidden" value="${Buffer.from(xml).toString("base64")}"></form>`;
  }

  #parse(text: string): Element {
    need(!/<!DOCTYPE|<\?/i.test(text), "only elements");
    const fail = (message: unknown): never => {
      throw new Refused(String(message));
    };
    return new DOMParser({ errorHandler: { warning: fail, error: fail, fatalError: fail } }).parseFromString(text)
      .documentElement;
  }

  /** The bytes that a signature of this element covers, read again; null: it has none. */
  #signed(element: Element, text: string): Element | null {
    const [signature, another] = children(element, signatureSpace, "Signature");
    if (signature === undefined) return null;
    need(another === undefined, "one signature");
    const verifier = new SignedXml({ publicCert: this.#config.idp.certificate, getCertFromKeyInfo: () => null });
    verifier.loadSignature(signature);
    need(String(verifier.signatureAlgorithm).endsWith("#rsa-sha256"), "RSA-SHA256");
    const { length } = children(signature, signatureSpace, "SignedInfo");
    need(length === 1, "one SignedInfo");
    let covered: string[];
    try {
      need(verifier.checkSignature(text), "a signature that fits");
      covered = verifier.getSignedReferences();
    } catch {
      throw new Refused("a signature that can be verified");
    }
    need(covered.length === 1, "one reference");
    const read = this.#parse(covered[0] ?? "");
    need(
      read.getAttribute("ID") === element.getAttribute("ID") && read.localName === element.localName,
      "its own signature",
    );
    return read;
  }

  #read(text: string, browser: string): Session {
    const response = this.#parse(text);
    need(response.localName === "Response" && response.namespaceURI === protocolSpace, "a Response");
    const status = Array.from(response.getElementsByTagNameNS(protocolSpace, "StatusCode"))[0];
    need(status?.getAttribute("Value") === "urn:oasis:names:tc:SAML:2.0:status:Success", "Success");
    const whole = this.#signed(response, text);
    const outer = whole ?? response;
    const all = children(outer, assertionSpace, "Assertion");
    need(all.length === 1 && all[0] !== undefined, "one assertion");
    const own = whole === null ? this.#signed(all[0], text) : all[0];
    need(own !== null || this.#has("unsigned"), "signed");
    const assertion = own ?? all[0];
    const destination = outer.getAttribute("Destination") ?? "";
    need(destination === "" || destination === this.#config.acs, "here");
    return this.#judge(assertion, outer, browser);
  }

  #judge(assertion: Element, response: Element, browser: string): Session {
    const { acs, entityId, idp } = this.#config;
    const one = (parent: Element | undefined, name: string): Element | undefined =>
      parent === undefined ? undefined : children(parent, assertionSpace, name)[0];
    const time = (element: Element | undefined, name: string): number => Date.parse(element?.getAttribute(name) ?? "");
    const now = Date.now();
    need(one(assertion, "Issuer")?.textContent === idp.entityId, "from the identity provider");
    const outer = one(response, "Issuer");
    need(outer === undefined || outer.textContent === idp.entityId, "sent by the identity provider");
    const conditions = one(assertion, "Conditions");
    const audiences = Array.from(conditions?.getElementsByTagNameNS(assertionSpace, "Audience") ?? []);
    need(
      audiences.some(({ textContent }) => textContent === entityId),
      "for this service provider",
    );
    const subject = one(assertion, "Subject");
    const confirmation = one(subject, "SubjectConfirmation");
    need(confirmation?.getAttribute("Method") === "urn:oasis:names:tc:SAML:2.0:cm:bearer", "bearer");
    const data = one(confirmation, "SubjectConfirmationData");
    need(data?.getAttribute("Recipient") === acs, "for this address");
    if (!this.#has("clock")) {
      need(time(data, "NotOnOrAfter") > now - 60_000, "not confirmed any more");
      need(time(conditions, "NotOnOrAfter") > now - 60_000, "too late");
      need(!(time(conditions, "NotBefore") > now + 60_000), "too early");
    }
    const answers = data.getAttribute("InResponseTo") ?? "";
    if (answers === "") need(this.#has("takes-unsolicited"), "asked for");
    else {
      need(this.#asked.get(answers) === browser && browser !== "", "asked for by this browser");
      need((response.getAttribute("InResponseTo") ?? answers) === answers, "one request");
      this.#asked.delete(answers);
    }
    const id = assertion.getAttribute("ID") ?? "";
    need(!this.#used.has(id), "new");
    this.#used.add(id);
    const name = one(subject, "NameID")?.textContent ?? "";
    need(name !== "", "a name");
    const statement = one(assertion, "AuthnStatement");
    const until = time(statement, "SessionNotOnOrAfter");
    return {
      name,
      index: statement?.getAttribute("SessionIndex") ?? null,
      until: Number.isNaN(until) ? Infinity : until,
    };
  }

  #logOut(query: string, own: string): void {
    const pairs = query.split("&").map((pair) => pair.split("=") as [string, string | undefined]);
    const raw = (name: string): string => {
      const found = pairs.filter(([key]) => key === name);
      need(found.length === 1, `one ${name}`);
      return found[0]?.[1] ?? "";
    };
    if (this.#has("open-logout")) {
      this.#sessions.delete(own);
      return;
    }
    const algorithm = raw("SigAlg");
    need(decodeURIComponent(algorithm).endsWith("#rsa-sha256"), "RSA-SHA256");
    const text = `SAMLRequest=${raw("SAMLRequest")}&SigAlg=${algorithm}`;
    const key = createPublicKey(this.#config.idp.certificate);
    const signature = Buffer.from(decodeURIComponent(raw("Signature")), "base64");
    need(verify("sha256", Buffer.from(text), key, signature), "signed");
    const request = this.#parse(
      inflateRawSync(Buffer.from(decodeURIComponent(raw("SAMLRequest")), "base64")).toString(),
    );
    const name = children(request, assertionSpace, "NameID")[0]?.textContent;
    const index = children(request, protocolSpace, "SessionIndex")[0]?.textContent ?? null;
    for (const [token, session] of this.#sessions) {
      const isNamed = session.name === name && (index === null || session.index === index);
      if (isNamed || this.#has("anybody-logout")) this.#sessions.delete(token);
    }
  }
}
