import { whyNotBegun } from "../../frame/app.ts";
import type { Asked, Attempt, Value } from "../attempt.ts";
import type { Recorded } from "../../frame/idp.ts";
import { whyGuessable } from "../../shared/guessable.ts";
import {
  type Case,
  type Finding,
  noticed,
  notReached,
  notRequired,
  unnoticed,
  isFinding,
} from "../../frame/verdict.ts";
import { elsewhere } from "../../../client/app/visit.ts";

/** What the app sends with its authorization requests: PKCE, state, nonce and the redirect URI. */

/** Enough to tell a counter from a random value. */
const samples = 4;

/** The parameters of an authorization request. @param records of idp, which has those that were pushed */
function askedWith(request: URL | null, records: readonly Recorded[]): Map<string, Value> {
  const asked = new Map<string, Value>(
    Array.from(request?.searchParams ?? [], ([name, text]) => [name, { text, isFingerprint: false }]),
  );
  if (request !== null && !asked.has("request_uri")) return asked;
  const pushed = records.findLast(({ endpoint }) => endpoint === "par");
  for (const [name, value] of Object.entries(pushed?.parameters ?? {})) {
    if (typeof value === "string") asked.set(name, { text: value, isFingerprint: false });
    else {
      const { fingerprint } = Object(value) as { readonly fingerprint?: unknown };
      if (typeof fingerprint === "string") asked.set(name, { text: fingerprint, isFingerprint: true });
    }
  }
  return asked;
}

/** The parameters of some authorization requests, each from its own browser; a finding says why there are none. */
async function askSome(attempt: Attempt): Promise<readonly Asked[] | Finding> {
  const all = attempt.known.samples;
  while (all.length < samples) {
    const mark = await attempt.mark();
    const visit = await attempt.signIn(await attempt.newBrowser(), "hold");
    if (visit.request === null || visit.response === null) {
      return notReached(whyNotBegun(visit) ?? "the app sent no authorization request");
    }
    const asked = askedWith(visit.request, await attempt.requests(mark));
    // Of a pushed state the ledger has only a fingerprint, but the response returns it as it was sent.
    const state = visit.response.parameters.get("state");
    if (state !== null) asked.set("state", { text: state, isFingerprint: false });
    all.push(asked);
  }
  return all;
}

const textsOf = (all: readonly Asked[], name: string): readonly string[] =>
  all.flatMap((asked) => asked.get(name)?.text ?? []);

/** Of a fingerprint nothing can be seen but whether it comes twice. */
function whyGuessableIn(all: readonly Asked[], name: string): string | null {
  const texts = textsOf(all, name);
  const isHidden = all.some((asked) => asked.get(name)?.isFingerprint === true);
  return isHidden && new Set(texts).size === texts.length ? null : whyGuessable(name, texts);
}

/** Where all of them are noticed, a confidential client need not use PKCE (RFC 9700 2.1.1). */
const nonceCases = ["nonce-fresh", "id-token.nonce-wrong", "id-token.nonce-missing"];

export const pkce: Case<Attempt> = {
  name: "pkce",
  mustNot: "a code that was taken on its way can be used",
  should: "send code_challenge with code_challenge_method=S256",
  paragraph: "RFC 9700 2.1.1, RFC 7636 4.2, ASVS 5.0 10.1.2",
  fix: "turn PKCE on, with S256",
  reads: nonceCases,
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    if (textsOf(all, "code_challenge").length < all.length) {
      const hasNonce = nonceCases.every((name) => attempt.verdicts.get(name) === "noticed");
      return attempt.control.isConfidential && hasNonce
        ? notRequired("sent no code_challenge; the client is confidential, and compares nonce", "RFC 9700 2.1.1")
        : unnoticed("sent no code_challenge");
    }
    const other = textsOf(all, "code_challenge_method").find((method) => method !== "S256");
    return other === undefined
      ? noticed("sent code_challenge with S256")
      : unnoticed(`sent code_challenge_method=${other}`);
  },
};

export const pkceFresh: Case<Attempt> = {
  name: "pkce-fresh",
  mustNot: "two sign-ins share a code_verifier",
  should: "make a new code_verifier for each sign-in",
  paragraph: "RFC 7636 4.1, 7.1, ASVS 5.0 10.1.2",
  fix: "make the verifier in the handler that redirects, not when the app starts",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    if (textsOf(all, "code_challenge").length === 0) return notReached("the app sent no code_challenge (see pkce)");
    const why = whyGuessableIn(all, "code_challenge");
    return why === null ? noticed("sent a new code_challenge each time") : unnoticed(why);
  },
};

export const nonceFresh: Case<Attempt> = {
  name: "nonce-fresh",
  mustNot: "nonce can be guessed, or is used for two sign-ins",
  should: "send a new random nonce each time",
  paragraph: "OpenID Connect Core 3.1.2.1, 15.5.2, ASVS 5.0 10.1.2",
  fix: "make nonce of at least 16 random bytes in the handler that redirects",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    if (textsOf(all, "nonce").length === 0) {
      return notRequired("sent no nonce", "OpenID Connect Core 3.1.2.1 (optional in the code flow)");
    }
    const why = whyGuessableIn(all, "nonce");
    return why === null ? noticed("sent a new random nonce each time") : unnoticed(why);
  },
};

export const stateFresh: Case<Attempt> = {
  name: "state-fresh",
  mustNot: "state can be guessed, or is used for two sign-ins",
  should: "send a new random state each time",
  paragraph: "RFC 6749 10.10, 10.12, ASVS 5.0 10.1.2",
  fix: "make state of at least 16 random bytes in the handler that redirects",
  reads: ["pkce-fresh", "nonce-fresh", "login-csrf"],
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    const why = textsOf(all, "state").length === 0 ? "sent no state" : whyGuessableIn(all, "state");
    if (why === null) return noticed("sent a new random state each time");
    const isNoticed = (name: string): boolean => attempt.verdicts.get(name) === "noticed";
    const other = ["pkce-fresh", "nonce-fresh"].find(isNoticed);
    if (other !== undefined && isNoticed("login-csrf")) {
      return notRequired(
        `${why}; ${other} and login-csrf are noticed`,
        "RFC 9700 2.1: PKCE or nonce may take its place",
      );
    }
    return unnoticed(
      `${why}; nothing takes its place: pkce-fresh or nonce-fresh, and login-csrf, must be noticed in the same run`,
    );
  },
};

/** Parameters from which apps may read a redirect URI. */
const parameters = ["redirect_uri", "redirectUri", "callback", "callbackUrl"];

export const redirectUri: Case<Attempt> = {
  name: "redirect-uri",
  mustNot: "a request decides where the code goes",
  should: "send one redirect URI, exactly as it is registered, whatever the request says",
  paragraph: "RFC 9700 2.1, RFC 6749 3.1.2.3",
  fix: "configure redirect_uri, and do not take it from the request",
  async run(attempt) {
    const all = await askSome(attempt);
    if (isFinding(all)) return all;
    const [uri = "", ...others] = new Set(textsOf(all, "redirect_uri"));
    if (others.length > 0) return unnoticed(`sent more than one redirect URI: ${[uri, ...others].join(", ")}`);
    if (uri !== "" && !attempt.control.redirectUris.includes(uri)) {
      return unnoticed(`sent ${uri}, which is registered only with a wildcard`);
    }
    const wrong = await askWith(attempt, `${elsewhere}/callback`);
    if (wrong.sent?.startsWith(elsewhere) === true) {
      return unnoticed(`sent ${wrong.sent}, which the request had asked for`);
    }
    // An app that refuses such a link has to take one with its own redirect URI.
    const why = wrong.why === null ? null : (await askWith(attempt, uri)).why;
    return why === null ? noticed(`always sent ${uri === "" ? "the same redirect URI" : uri}`) : notReached(why);
  },
};

/** Begins with an address that names a redirect URI. @returns the one that the app sent; why it asked idp for nothing, or null */
async function askWith(attempt: Attempt, uri: string) {
  const address = new URL(attempt.app.start);
  for (const name of parameters) address.searchParams.set(name, uri);
  const mark = await attempt.mark();
  const visit = await (await attempt.newBrowser()).signIn(address.href, "hold");
  const sent = askedWith(visit.request, await attempt.requests(mark)).get("redirect_uri")?.text ?? null;
  return { sent, why: visit.request === null ? whyNotBegun(visit) : null };
}
