import { Problem } from "../../../client/check.ts";
import { ending, standingUnknown, refusal } from "../../frame/app.ts";
import { noticed, notReached, notRequired, unnoticed, works, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { signChoices, type Way } from "../messages.ts";
import { signedInBy } from "../judge.ts";

/** What the app takes of that which it may take or refuse, and how it takes a failure. */

const others = "it would reach everybody who uses this client: use -- CMD";

/** Signs in once. @returns what the app did where nobody is signed in, or a finding that says nothing */
async function tried(attempt: Attempt): Promise<"in" | Finding | { readonly did: string }> {
  const browser = await attempt.newBrowser();
  const visit = await attempt.signIn(browser);
  return (await signedInBy(attempt, browser, visit)) ?? { did: refusal(visit) };
}

/** Signs in with responses that are made like this. */
async function takes(attempt: Attempt, way: Way): Promise<"in" | Finding | { readonly did: string }> {
  await attempt.setWay(way);
  return tried(attempt);
}

const signed = { assertion: "the assertion alone", response: "the response alone", both: "response and assertion" };

const signCases: readonly Case<Attempt>[] = signChoices.map((sign) => ({
  name: `sign-${sign}`,
  mustNot: `a response is refused in which ${signed[sign]} is signed`,
  should: "take it, or refuse it as it is configured",
  paragraph: "SAML Profiles 4.1.4.5",
  fix: "say in the options of the library what has to be signed",
  async run(attempt) {
    const { control, known } = attempt;
    if (!control.isOwn && sign !== control.way.sign) return notReached(others);
    const found = await takes(attempt, { ...known.way, sign });
    if (found === "in") return works("signed the user in");
    if ("verdict" in found) return found;
    return notRequired(found.did, "SAML Profiles 4.1.4.5: what has to be signed beyond one of them is for the app");
  },
}));

const encrypted: Case<Attempt> = {
  name: "encrypted",
  mustNot: "an encrypted assertion is refused",
  should: "decrypt it, where the app has a certificate for that",
  paragraph: "SAML Core 2.3.4",
  fix: "give the library the private key of the certificate in your metadata",
  async run(attempt) {
    const { control, known } = attempt;
    if (!control.isOwn) return notReached(others);
    const gcm = await takes(attempt, { ...known.way, encrypt: true }).catch((error: unknown) => {
      if (error instanceof Problem)
        return notReached(`nothing can be encrypted for the app: saml.encrypt ${error.message}`);
      throw error;
    });
    if (gcm === "in") return works("signed the user in (AES-256-GCM)");
    if ("verdict" in gcm) return gcm;
    const cbc = await takes(attempt, { ...known.way, encrypt: "cbc" });
    if (cbc === "in") return works("signed the user in (AES-256-CBC, not GCM)");
    return notRequired(gcm.did, "SAML Core 6: encryption is for the app");
  },
};

/** Last, because an app may keep what it read of the metadata. */
export const keysRotated: Case<Attempt> = {
  name: "keys-rotated",
  mustNot: "sign-ins fail once the identity provider signs with a new key",
  should: "read the metadata again, then accept",
  paragraph: "SAML Metadata 2.4.1.1",
  fix: "configure the address of the metadata in place of a certificate, where the library reads it",
  async run(attempt) {
    const { control } = attempt;
    if (!control.isOwn) return notReached("it would rotate the key of every client of this issuer: use -- CMD");
    await control.rotateKeys();
    const found = await tried(attempt);
    if (found === "in") return works("signed the user in with the new key");
    if ("verdict" in found) return found;
    return notRequired(found.did, "SAML Metadata 2.4.1.1: an app may be configured with one certificate");
  },
};

const statusShown: Case<Attempt> = {
  name: "status-shown",
  mustNot: "a sign-in that failed signs a user in, or begins again and again",
  should: "show that the sign-in failed, and let the user begin again",
  paragraph: "SAML Core 3.2.2.2, SAML Profiles 4.1.4.5",
  fix: "show a page that needs nobody signed in, where StatusCode is not Success",
  async run(attempt) {
    const browser = await attempt.newBrowser({ cancels: true });
    const visit = await attempt.signIn(browser);
    const { response, end } = visit;
    if (response === null) return notReached(`the identity provider sent no status: ${ending(visit)}`);
    const standing = await attempt.standing(browser);
    if (standing === "broken") return standingUnknown;
    if (standing === "in") return unnoticed("signed the user in");
    if (end.kind === "idp") return unnoticed("began to sign in again at once, which never ends");
    if (end.kind === "stuck") return notReached(`the app ${ending(visit)}`);
    if (end.kind === "page" && end.status >= 500)
      return notRequired(refusal(visit), "no paragraph of SAML says what the user sees");
    return noticed(ending(visit));
  },
};

export const takenCases: readonly Case<Attempt>[] = [...signCases, encrypted];
export const statusCase = statusShown;
