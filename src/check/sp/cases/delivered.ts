import { deflateRawSync } from "node:zlib";
import { elsewhere, changed, type AuthorizationResponse, type Browser } from "../../../client/app/visit.ts";
import { noticedIfDelivered, refusal } from "../../frame/app.ts";
import { noticed, notReached, notRequired, unnoticed, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { heldIn, nameOf, signedInBy } from "../judge.ts";

/** A good response that comes where, or how, the app must not take it. */

/** Brings a response to the app. @returns what the app did, where it signed nobody in; else "in", or a finding that says nothing */
async function bring(
  attempt: Attempt,
  browser: Browser,
  response: AuthorizationResponse,
): Promise<"in" | Finding | { readonly did: string }> {
  const visit = await browser.deliver(response);
  const found = await signedInBy(attempt, browser, visit);
  return found ?? { did: refusal(visit) };
}

/** Whether the app takes a response that answers no request. @returns a finding where that cannot be known */
async function unsolicitedIn(attempt: Attempt): Promise<Finding | { readonly did: string | null }> {
  const browser = await attempt.newBrowser();
  const found = await bring(attempt, browser, await attempt.control.issue());
  if (found !== "in" && "verdict" in found) return found;
  attempt.known.unsolicited = found === "in";
  return { did: found === "in" ? null : found.did };
}

async function takesUnsolicited(attempt: Attempt): Promise<boolean> {
  if (attempt.known.unsolicited === null) await unsolicitedIn(attempt);
  return attempt.known.unsolicited === true;
}

const unsolicited: Case<Attempt> = {
  name: "unsolicited",
  mustNot: "a response that answers no request signs a user in",
  should: "refuse it, unless sign-ins may begin at the identity provider",
  paragraph: "SAML Profiles 4.1.5; IPSIE SL2",
  fix: "refuse a response without InResponseTo",
  async run(attempt) {
    const found = await unsolicitedIn(attempt);
    if ("verdict" in found) return found;
    if (found.did !== null) return noticedIfDelivered(attempt, found.did);
    const did = "signed the user in";
    if (attempt.app.noUnsolicited) return unnoticed(did);
    return notRequired(did, "SAML Profiles 4.1.5 allows it, IPSIE SL2 forbids it: --no-unsolicited requires it");
  },
};

const replayed: Case<Attempt> = {
  name: "replayed",
  mustNot: "a response signs a second browser in",
  should: "take each assertion once",
  paragraph: "SAML Profiles 4.1.4.5",
  fix: "forget the ID of a request once it is answered; keep the IDs of unsolicited assertions until they expire",
  async run(attempt) {
    const first = await attempt.newBrowser();
    const response = await heldIn(attempt, first);
    if ("verdict" in response) return response;
    const taken = await bring(attempt, first, response);
    if (taken !== "in") {
      return "verdict" in taken
        ? taken
        : notReached(`the app did not take the response the first time: it ${taken.did}`);
    }
    const second = await bring(attempt, await attempt.newBrowser(), response);
    if (second === "in") return unnoticed("signed a second browser in with the same response");
    return "verdict" in second ? second : noticed(second.did);
  },
};

const otherBrowser: Case<Attempt> = {
  name: "other-browser",
  mustNot: "the answer to the request of one browser signs another one in",
  should: "accept a response only in the browser that asked for it",
  paragraph: "SAML Profiles 4.1.4.3, 4.1.5",
  fix: "keep the ID of the request in the session of the browser, and compare InResponseTo with that one",
  async run(attempt) {
    const { app } = attempt;
    const mayPass = !app.noUnsolicited && (await takesUnsolicited(attempt));
    const begun = async (): Promise<Browser> => {
      const browser = await attempt.newBrowser();
      await attempt.signIn(browser, "hold");
      return browser;
    };
    const others = [
      ["a browser that never began", () => attempt.newBrowser()],
      ["another browser that had begun", begun],
    ] as const;
    let did = "";
    for (const [what, open] of others) {
      const response = await heldIn(attempt, await attempt.newBrowser());
      if ("verdict" in response) return response;
      const found = await bring(attempt, await open(), response);
      if (found === "in") {
        if (mayPass)
          return notRequired(`signed in ${what}`, "SAML Profiles 4.1.5: the app takes unsolicited responses");
        return unnoticed(`signed in ${what}`);
      }
      if ("verdict" in found) return found;
      did = found.did;
    }
    return noticedIfDelivered(attempt, did);
  },
};

const { host } = new URL(elsewhere);
/** All of them lead away in a browser, which reads `/\` as `//`. */
const targets = [`${elsewhere}/`, `//${host}/`, `/\\${host}/`];

const relayState: Case<Attempt> = {
  name: "relay-state",
  mustNot: "RelayState leads to the site of somebody else",
  should: "go only to its own addresses after the sign-in",
  paragraph: "SAML Bindings 3.5.3, RFC 9700 4.11.1",
  fix: "resolve RelayState against your own address, and compare its origin: new URL(to, base).origin === base.origin",
  async run(attempt) {
    for (const target of targets) {
      const browser = await attempt.newBrowser();
      const response = await heldIn(attempt, browser);
      if ("verdict" in response) return response;
      const tries: (readonly [Browser, AuthorizationResponse])[] = [
        [browser, changed(response, { RelayState: target })],
      ];
      if (await takesUnsolicited(attempt))
        tries.push([await attempt.newBrowser(), await attempt.control.issue(target)]);
      for (const [one, given] of tries) {
        const { end } = await one.deliver(given);
        if (end.kind === "foreign") return unnoticed(`sent the browser to ${end.url}`);
        if (end.kind === "stuck") return notReached(`the app did not answer: ${end.why}`);
      }
    }
    return noticedIfDelivered(attempt, "stayed at its own addresses");
  },
};

/** A case that brings the response of its own browser in another form. @param forms each of them must be refused */
async function inForms(
  attempt: Attempt,
  forms: (response: AuthorizationResponse) => readonly AuthorizationResponse[],
  passed: (did: string) => Finding,
): Promise<Finding> {
  let did = "";
  for (let at = 0, count = 1; at < count; at += 1) {
    const browser = await attempt.newBrowser();
    const response = await heldIn(attempt, browser);
    if ("verdict" in response) return response;
    const all = forms(response);
    count = all.length;
    const found = await bring(attempt, browser, all[at] ?? response);
    if (found === "in") return passed(`signed in ${await nameOf(attempt, browser)}`);
    if ("verdict" in found) return found;
    did = found.did;
  }
  return noticedIfDelivered(attempt, did);
}

const messageIn = ({ parameters }: AuthorizationResponse): Buffer =>
  Buffer.from(parameters.get("SAMLResponse") ?? "", "base64");

const responseInQuery: Case<Attempt> = {
  name: "response-in-query",
  mustNot: "a response in the address signs a user in",
  should: "take responses by POST alone",
  paragraph: "SAML Profiles 4.1.3.5",
  fix: "read SAMLResponse from the body of a POST, and let no GET reach the code that signs in",
  run: (attempt) =>
    inForms(
      attempt,
      (response) => {
        const deflated = deflateRawSync(messageIn(response)).toString("base64");
        const inQuery = { ...response, mode: "query" } as const;
        return [inQuery, changed(inQuery, { SAMLResponse: deflated })];
      },
      unnoticed,
    ),
};

const doctype: Case<Attempt> = {
  name: "doctype",
  mustNot: "a response with a DOCTYPE is read",
  should: "refuse XML with a DOCTYPE before anything else",
  paragraph: "XML 1.0 2.8",
  fix: "let the parser refuse a DOCTYPE: entities in it cost memory, or read files",
  run: (attempt) =>
    inForms(
      attempt,
      (response) => {
        const text = `<!DOCTYPE idp [<!ENTITY idp "idp">]>${messageIn(response).toString()}`;
        return [changed(response, { SAMLResponse: Buffer.from(text).toString("base64") })];
      },
      (did) => notRequired(did, "no paragraph of SAML forbids a DOCTYPE"),
    ),
};

export const deliveredCases: readonly Case<Attempt>[] = [replayed, otherBrowser, relayState, responseInQuery, doctype];
/** Before those that ask for its result. */
export const unsolicitedCase = unsolicited;
