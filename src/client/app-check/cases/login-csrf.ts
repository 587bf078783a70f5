import { whyNotBegun, type Attempt } from "../attempt.ts";
import { changed, type AuthorizationResponse, type Browser } from "../browser.ts";
import { notReached, unnoticed, type Case, type Finding } from "../../verdicts/case.ts";
import { noticedIfDelivered, standingUnknown } from "../standing.ts";

export const loginCsrf: Case<Attempt> = {
  name: "login-csrf",
  mustNot: "a link from somebody else signs the user in to that person's account",
  should: "accept a response only in the browser that asked for it",
  paragraph: "RFC 6749 10.12, RFC 9700 4.7",
  fix: "bind state to the browser with a cookie, and compare it at the callback",
  async run(attempt) {
    const first = await attempt.signIn(await attempt.newBrowser(), "hold");
    const { response, request } = first;
    if (response === null) return notReached(whyNotBegun(first) ?? "the app did not begin to sign in");
    const begun = await attempt.newBrowser();
    const own = await attempt.signIn(begun, "hold");
    const asked = request?.searchParams ?? new URLSearchParams();
    const nonce = asked.get("nonce");
    const bare = (): Promise<string | null> =>
      attempt.control.issueCode({
        redirect_uri: asked.get("redirect_uri") ?? response.redirectUri,
        scope: asked.get("scope") ?? "openid",
        ...(nonce !== null && { nonce }),
      });
    const stateOf = own.response?.parameters.get("state") ?? null;
    const tries: readonly Try[] = [
      ["a browser that never began", () => attempt.newBrowser(), () => Promise.resolve(response)],
      ["a browser that never began, without a challenge", () => attempt.newBrowser(), withCode(response, bare)],
      ["another browser that had begun, without a challenge", () => Promise.resolve(begun), withCode(response, bare)],
      ...(stateOf === null
        ? []
        : [
            [
              "another browser that had begun, without state",
              () => Promise.resolve(begun),
              withCode(changed(response, { state: null }), bare),
            ] as const,
          ]),
    ];
    for (const one of tries) {
      const found = await tryOne(attempt, one);
      if (found !== null) return found;
    }
    return noticedIfDelivered(attempt, "signed in only the browser that asked");
  },
};

type Try = readonly [
  what: string,
  browser: () => Promise<Browser>,
  response: () => Promise<AuthorizationResponse | null>,
];

const withCode =
  (response: AuthorizationResponse, issue: () => Promise<string | null>) =>
  async (): Promise<AuthorizationResponse | null> => {
    const code = await issue();
    return code === null ? null : changed(response, { code });
  };

/** @returns null: the app refused the response, or idp issues no such code */
async function tryOne(attempt: Attempt, [what, open, make]: Try): Promise<Finding | null> {
  const response = await make();
  if (response === null) return null;
  const browser = await open();
  const { end } = await browser.deliver(response);
  if (end.kind === "stuck") return notReached(`the app did not answer the callback: ${end.why}`);
  const standing = await attempt.standing(browser);
  if (standing === "broken") return standingUnknown;
  return standing === "in" ? unnoticed(`signed in ${what}`) : null;
}
