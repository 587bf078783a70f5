import { whyNotBegun, type Attempt } from "../attempt.ts";
import { changed, type AuthorizationResponse, type Browser } from "../browser.ts";
import { noticed, notReached, unnoticed, type Case } from "../../verdicts/case.ts";
import { whyNotSignedIn } from "../standing.ts";

export const callbackReplayed: Case<Attempt> = {
  name: "callback-replayed",
  mustNot: "the app accepts a response a second time",
  should: "use each state once, and each code once",
  paragraph: "RFC 6749 4.1.2, 10.12",
  fix: "remove state, nonce and code_verifier from the session before the code is exchanged",
  async run(attempt) {
    const browser = await attempt.newBrowser();
    const begun = await attempt.signIn(browser, "hold");
    const { response, request } = begun;
    if (response === null) return notReached(whyNotBegun(begun) ?? "the app did not begin to sign in");
    // The first time it comes in the same way as the second.
    const first = await browser.deliver(response);
    const why = whyNotSignedIn(first, await attempt.standing(browser));
    if (why !== null) return notReached(why);
    if (await exchanges(attempt, browser, response)) return unnoticed("sent the same code to the token endpoint again");
    const asked = request?.searchParams ?? new URLSearchParams();
    const code = await attempt.control.issueCode({
      redirect_uri: asked.get("redirect_uri") ?? response.redirectUri,
      ...textsIn(asked, ["scope", "state", "nonce", "code_challenge"]),
    });
    if (code !== null && (await exchanges(attempt, browser, changed(response, { code })))) {
      return unnoticed("accepted the state of an earlier sign-in with a new code");
    }
    return noticed("did not exchange a code for the second response");
  },
};

const textsIn = (parameters: URLSearchParams, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (parameters.has(name) ? [[name, parameters.get(name) ?? ""]] : [])));

/** Delivers a response. @returns whether the app sent a code to the token endpoint */
async function exchanges(attempt: Attempt, browser: Browser, response: AuthorizationResponse): Promise<boolean> {
  const mark = await attempt.mark();
  await browser.deliver(response);
  const records = await attempt.requests(mark);
  return records.some(({ endpoint, grant_type: grant }) => endpoint === "token" && grant === "authorization_code");
}
