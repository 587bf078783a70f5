import type { Attempt } from "../attempt.ts";
import { noticed, unnoticed, type Case } from "../../verdicts/case.ts";
import { askSome, isFinding, textsOf } from "./sample.ts";
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
    const browser = await attempt.newBrowser();
    const address = new URL(attempt.app.start);
    for (const name of parameters) address.searchParams.set(name, `${elsewhere}/callback`);
    const visit = await browser.signIn(address.href, "hold");
    const sent = visit.request?.searchParams.get("redirect_uri");
    if (sent?.startsWith(elsewhere) === true) return unnoticed(`sent ${sent}, which the request had asked for`);
    return noticed(`always sent ${uri === "" ? "the same redirect URI" : uri}`);
  },
};
