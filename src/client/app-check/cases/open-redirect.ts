import { whyNotBegun, type Attempt } from "../attempt.ts";
import type { Visit } from "../browser.ts";
import { noticed, notReached, unnoticed, type Case } from "../../verdicts/case.ts";
import { elsewhere } from "./elsewhere.ts";

const parameters = ["return_to", "returnTo", "next", "redirect"];
const { host } = new URL(elsewhere);
/** All of them lead away in a browser, which reads `/\` as `//`. */
const targets = [`${elsewhere}/`, `//${host}/`, `/\\${host}/`];

export const openRedirect: Case<Attempt> = {
  name: "open-redirect",
  mustNot: "a link to the app leads to the site of somebody else",
  should: "go only to its own addresses after the sign-in",
  paragraph: "RFC 9700 4.11.1, RFC 6749 10.15",
  fix: "resolve the address against your own, and compare its origin: new URL(to, base).origin === base.origin",
  async run(attempt) {
    const { start, signedIn } = attempt.app;
    let isRefused = false;
    for (const target of targets) {
      const visit = await signInWith(attempt, target);
      if (visit.end.kind === "foreign") return unnoticed(`sent the browser to ${visit.end.url}`);
      const why = whyNotBegun(visit);
      if (why !== null && visit.end.kind === "stuck") return notReached(why);
      isRefused ||= why !== null;
    }
    // An app may also refuse the whole link. Then it has to take one to an address of its own.
    const { origin, pathname, search } = new URL(signedIn);
    const own = origin === new URL(start).origin ? pathname + search : signedIn;
    const why = isRefused ? whyNotBegun(await signInWith(attempt, own)) : null;
    return why === null ? noticed("stayed at its own addresses") : notReached(why);
  },
};

async function signInWith(attempt: Attempt, target: string): Promise<Visit> {
  const address = new URL(attempt.app.start);
  for (const name of parameters) address.searchParams.set(name, target);
  return (await attempt.newBrowser()).signIn(address.href);
}
