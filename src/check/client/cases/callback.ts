import {
  ending,
  spoiledBy,
  whyNotBegun,
  noticedIfDelivered,
  standingUnknown,
  whyNotSignedIn,
  heldSignIn,
} from "../../frame/app.ts";
import type { Attempt } from "../attempt.ts";
import { type AuthorizationResponse, type Browser, changed, elsewhere } from "../../../client/app/visit.ts";
import {
  type Case,
  type Finding,
  noticed,
  notReached,
  notRequired,
  unnoticed,
  works,
  isFinding,
} from "../../frame/verdict.ts";

/** What comes to the callback: replayed, of nobody's sign-in, of another issuer, an error, or after a busy moment. */

export const callbackReplayed: Case<Attempt> = {
  name: "callback-replayed",
  mustNot: "the app accepts a response a second time",
  should: "use each state once, and each code once",
  paragraph: "RFC 6749 4.1.2, 10.12, ASVS 5.0 10.1.2",
  fix: "remove state, nonce and code_verifier from the session before the code is exchanged",
  async run(attempt) {
    const browser = await attempt.newBrowser();
    const begun = await heldSignIn(attempt, browser);
    if (isFinding(begun)) return begun;
    const { response, request } = begun;
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

export const loginCsrf: Case<Attempt> = {
  name: "login-csrf",
  mustNot: "a link from somebody else signs the user in to that person's account",
  should: "accept a response only in the browser that asked for it",
  paragraph: "RFC 6749 10.12, RFC 9700 4.7, ASVS 5.0 10.1.2, 10.2.1",
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

/** An app with one issuer has nobody to mix it up with. */
const unlessAlone = ({ second }: Attempt, did: string): Finding =>
  second === null
    ? notRequired(`${did}: the app has one issuer`, "RFC 9700 4.4.2: only a client of several issuers needs it")
    : unnoticed(did);

export const mixUp: Case<Attempt> = {
  name: "mix-up",
  mustNot: "a code of one issuer is sent to another",
  should: "compare iss with the issuer that was asked, before the code is sent anywhere",
  paragraph: "RFC 9207 2.4, RFC 9700 4.4, ASVS 5.0 10.2.2",
  fix: "compare iss at the callback with the issuer, before the code is sent",
  async run(attempt) {
    const browser = await attempt.newBrowser();
    const begun = await heldSignIn(attempt, browser);
    if (isFinding(begun)) return begun;
    const { response } = begun;
    const mark = await attempt.mark();
    const visit = await browser.deliver(
      changed(response, { iss: attempt.second?.control.issuer ?? elsewhere, code: attempt.random(24) }),
    );
    if (visit.end.kind === "stuck") return notReached(`the app ${ending(visit)}`);
    const standing = await attempt.standing(browser);
    if (standing === "broken") return standingUnknown;
    const records = await attempt.requests(mark);
    if (records.some(({ endpoint }) => endpoint === "token")) {
      return unlessAlone(attempt, "sent the code of another issuer to this one's token endpoint");
    }
    return standing === "in" ? unlessAlone(attempt, "signed the user in") : noticedIfDelivered(attempt, ending(visit));
  },
};

export const errorAnswer: Case<Attempt> = {
  name: "error-answer",
  mustNot: "a refused sign-in signs a user in, or begins again and again",
  should: "show that the sign-in failed, and let the user begin again",
  paragraph: "RFC 6749 4.1.2.1",
  fix: "look at error first at the callback, and show a page that needs nobody signed in",
  async run(attempt) {
    const fault = await attempt.arm({ endpoint: "authorize", error: "access_denied", client: attempt.control.client });
    const browser = await attempt.newBrowser();
    const visit = await attempt.signIn(browser);
    const standing = await attempt.standing(browser);
    if (spoiledBy(await attempt.requests(), fault) === undefined) {
      return notReached(whyNotBegun(visit) ?? "no authorization request of the client was refused");
    }
    if (visit.end.kind === "stuck" || standing === "broken") return notReached(`the app ${ending(visit)}`);
    if (standing === "in") return unnoticed("signed the user in");
    if (visit.end.kind === "idp") return unnoticed("began to sign in again at once, which never ends");
    return noticed(ending(visit));
  },
};

/** A token endpoint that is busy once. It does not use up the code, so the app can send the code again. */

const base = {
  mustNot: "a server that is busy for a moment ends the sign-in",
  should: "wait for Retry-After, and send the request once more",
  fix: "send the token request again after 429 and 503, once, when Retry-After is over",
};

async function busyOnce(attempt: Attempt, status: number): Promise<Finding> {
  const fault = await attempt.arm({
    ...{ endpoint: "token", status, header: { "Retry-After": "1" } },
    ...{ client: attempt.control.client, grant_type: "authorization_code" },
  });
  const browser = await attempt.newBrowser();
  const visit = await attempt.signIn(browser);
  const standing = await attempt.standing(browser);
  if (spoiledBy(await attempt.requests(), fault) === undefined) {
    return notReached(whyNotBegun(visit) ?? "the app exchanged no code");
  }
  if (visit.end.kind === "stuck" || standing === "broken") return notReached(`the app ${ending(visit)}`);
  return standing === "in" ? works("tried again, and signed the user in") : notRequired(ending(visit));
}

export const retry503: Case<Attempt> = {
  ...base,
  name: "retry-503",
  paragraph: "RFC 9110 15.6.4, 10.2.3",
  run: (attempt) => busyOnce(attempt, 503),
};

export const retry429: Case<Attempt> = {
  ...base,
  name: "retry-429",
  paragraph: "RFC 6585 4",
  run: (attempt) => busyOnce(attempt, 429),
};
