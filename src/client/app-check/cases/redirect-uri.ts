import { whyNotBegun, type Attempt } from "../attempt.ts";
import { noticed, notReached, unnoticed, type Case } from "../../verdicts/case.ts";
import { askedWith, askSome, isFinding, textsOf } from "./sample.ts";
import { elsewhere } from "./elsewhere.ts";

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
