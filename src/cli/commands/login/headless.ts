import type { JsonObject } from "../../../text/json.ts";
import { ScriptlessBrowser } from "../../../client/browser.ts";
import { Problem } from "../../../client/check.ts";
import { maxSteps, requireWebAddress, type Reply } from "../../../client/http.ts";
import { answerPage, pageOf, parametersAt, postedParameters, type Decider } from "../../../client/pages.ts";

/** Signs a user in on the pages of an idp server, and keeps its cookies. */

interface Pages {
  /** From the authorization request to the response at the redirect URI. @throws {Problem} if it stops on the way */
  signIn(address: string, redirectUri: string): Promise<URLSearchParams>;
  /** From the address for a device's user to the decision. @throws {Problem} */
  decideDevice(address: string): Promise<void>;
}

/** @param issuer the issuer of the server; no other address is called */
export function pagesOf(issuer: string, decider: Decider): Pages {
  const { origin } = new URL(issuer);
  const browser = new ScriptlessBrowser();

  async function request(address: string, form?: URLSearchParams): Promise<Reply> {
    const url = requireWebAddress("the pages lead to", address, origin);
    if (url.origin !== origin) throw new Problem(`the pages lead to ${url.origin}, which is not ${origin}`);
    if (form === undefined) return browser.request({ method: "GET", url: url.href }, null);
    return browser.request({ method: "POST", url: url.href, form }, origin);
  }

  /** Goes from page to page until the last one. @param arrived the result of the last page; null for another one */
  async function walk<T>(begin: string, arrived: (step: Step) => T | null): Promise<T> {
    let reply = await request(begin);
    for (let steps = 0; steps < maxSteps; steps += 1) {
      const location = reply.headers.location;
      const moved = reply.status >= 300 && reply.status < 400 && location !== undefined;
      const page = moved ? null : pageOf(reply);
      const end = arrived({ location: moved ? location : null, page });
      if (end !== null) return end;
      if (page !== null) reply = await answerPage(page, decider, request);
      else reply = await request(location ?? "");
    }
    throw new Problem(`the pages go in a loop: ${maxSteps} steps, and no end`);
  }

  return {
    signIn: (address, redirectUri) =>
      walk(address, ({ location, page }) => {
        const back = location === null ? null : parametersAt(location, redirectUri);
        if (back !== null && decider.decision === "deny" && back.has("code")) {
          throw new Problem("no consent page came up, so nothing could be denied: this client skips consent");
        }
        return back ?? (page === null ? null : postedParameters(page, redirectUri));
      }),
    async decideDevice(address) {
      await walk(address, ({ page }) => (page?.["state"] === "done" || page?.["state"] === "denied" ? true : null));
    },
  };
}

interface Step {
  readonly location: string | null;
  readonly page: JsonObject | null;
}
