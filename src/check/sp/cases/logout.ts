import type { AuthorizationResponse, Browser } from "../../../client/app/visit.ts";
import { standingUnknown } from "../../frame/app.ts";
import { noticed, notReached, unnoticed, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import type { LogoutMessage } from "../messages.ts";
import { heldIn, signedInBy } from "../judge.ts";

/** LogoutRequests that must end nobody's session. Only for a client with `slo`. */

/** A browser that is signed in, and the response that began its session. */
interface SignedIn {
  readonly browser: Browser;
  readonly response: AuthorizationResponse;
}

async function signedIn(attempt: Attempt): Promise<SignedIn | Finding> {
  const browser = await attempt.newBrowser();
  const response = await heldIn(attempt, browser);
  if ("verdict" in response) return response;
  const found = await signedInBy(attempt, browser, await browser.deliver(response));
  if (found === "in") return { browser, response };
  return found ?? notReached("the app did not sign the user in");
}

/** Each way in which a message reaches the app. */
const ways = (["POST", "Redirect"] as const).flatMap((binding) => [
  { binding, withCookie: true, words: `by ${binding}, with the cookie of the browser` },
  { binding, withCookie: false, words: `by ${binding}, without a cookie` },
]);

/** Sends a message in each way, until the session has ended. @returns in which way it ended; null: it did not; a finding that says nothing */
async function endedBy(
  attempt: Attempt,
  { browser, response }: SignedIn,
  message: Omit<LogoutMessage, "binding">,
): Promise<string | null | Finding> {
  for (const { binding, withCookie, words } of ways) {
    const { url, parameters } = await attempt.control.logoutRequest(response, { ...message, binding });
    const sender = withCookie ? browser : await attempt.newBrowser();
    const given = { redirectUri: url, mode: "form_post", parameters } as const;
    if (binding === "POST") await sender.deliver(given);
    else await sender.look(`${url}${url.includes("?") ? "&" : "?"}${parameters.toString()}`);
    const standing = await attempt.standing(browser);
    if (standing === "broken") return standingUnknown;
    if (standing === "out") return words;
  }
  return null;
}

interface Wrong {
  readonly words: string;
  readonly message: Omit<LogoutMessage, "binding">;
}

const base = {
  should: "refuse the LogoutRequest, and end no session",
  paragraph: "SAML Profiles 4.4.4.1",
};

function logoutCase(
  name: string,
  mustNot: string,
  fix: string,
  wrong: (attempt: Attempt) => readonly Wrong[],
): Case<Attempt> {
  return {
    ...base,
    ...{ name, mustNot, fix },
    async run(attempt) {
      const found = await signedIn(attempt);
      if ("verdict" in found) return found;
      for (const { words, message } of wrong(attempt)) {
        const ended = await endedBy(attempt, found, message);
        if (typeof ended === "string") return unnoticed(`ended the session of the user: ${words}, ${ended}`);
        if (ended !== null) return ended;
      }
      // A correct request must end the session first: an app without logout refuses nothing.
      const ended = await endedBy(attempt, found, { signedBy: "idp" });
      if (typeof ended === "string") return noticed("kept the user signed in");
      return ended ?? notReached("the app kept the user signed in, and did so after the right LogoutRequest, too");
    },
  };
}

/** An unsigned request beside a signed message, in one address: a library may read the first one, and verify the other one. */
const parameterTwice: Case<Attempt> = {
  ...base,
  name: "redirect-parameter-twice",
  mustNot: "an unsigned LogoutRequest beside a signed message in the same address ends the session that it names",
  paragraph: "SAML Bindings 3.4.4.1, CVE-2025-27773",
  fix: "verify the signature over the bytes of the SAMLRequest that you read, and refuse an address that has two messages",
  async run(attempt) {
    const { control } = attempt;
    const found = await signedIn(attempt);
    if ("verdict" in found) return found;
    const { browser, response } = found;
    const other = control.attacker.names[0] ?? control.attacker.username;
    const signed = { binding: "Redirect", signedBy: "idp" } as const;
    for (const [what, message] of [
      ["LogoutRequest", { ...signed, nameId: other }],
      ["LogoutResponse", { ...signed, isResponse: true }],
    ] as const) {
      const unsigned = await control.logoutRequest(response, { binding: "Redirect" });
      const { url, parameters } = await control.logoutRequest(response, message);
      const query = `${unsigned.parameters.toString()}&${parameters.toString()}`;
      for (const sender of [browser, await attempt.newBrowser()]) {
        await sender.look(`${url}${url.includes("?") ? "&" : "?"}${query}`);
        const standing = await attempt.standing(browser);
        if (standing === "broken") return standingUnknown;
        if (standing === "out")
          return unnoticed(`ended the session that the unsigned LogoutRequest beside a signed ${what} names`);
      }
    }
    const ended = await endedBy(attempt, found, { signedBy: "idp" });
    if (typeof ended === "string") return noticed("kept the user signed in");
    return ended ?? notReached("the app kept the user signed in, and did so after the right LogoutRequest, too");
  },
};

export const logoutCases: readonly Case<Attempt>[] = [
  logoutCase(
    "logout-unsigned",
    "a LogoutRequest that nobody signed ends a session",
    "refuse a LogoutRequest without a signature, by Redirect, too",
    () => [{ words: "not signed", message: {} }],
  ),
  logoutCase(
    "logout-other",
    "a LogoutRequest of somebody else, or for somebody else, ends a session",
    "verify its signature with the certificate of the identity provider, and end only the session of its NameID and SessionIndex",
    ({ control }) => [
      { words: "signed by another key", message: { signedBy: "other" } },
      {
        words: `for ${control.attacker.username}`,
        message: { signedBy: "idp", nameId: control.attacker.names[0] ?? control.attacker.username },
      },
    ],
  ),
  parameterTwice,
];
