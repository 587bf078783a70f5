import { ScriptlessBrowser } from "../../../client/browser.ts";
import { Problem } from "../../../client/check.ts";
import { requireWebAddress, type Outgoing } from "../../../client/http.ts";
import { answerTo, pageOf, parametersAt, postedParameters, type Decider } from "../../../client/pages.ts";
import { walk } from "../../../client/walk.ts";

/** Signs a user in on the pages of an idp server, and keeps its cookies. */

interface Pages {
  /** From the authorization request to the response at the redirect URI. @throws {Problem} if it stops on the way */
  signIn(address: string, redirectUri: string): Promise<URLSearchParams>;
  /** From the address for a device's user to the decision. @throws {Problem} */
  decideDevice(address: string): Promise<void>;
}

const get = (url: string): Outgoing => ({ method: "GET", url });

/** @param issuer the issuer of the server; no other address is called */
export function pagesOf(issuer: string, decider: Decider): Pages {
  const { origin } = new URL(issuer);
  const browser = new ScriptlessBrowser();

  /** @throws {Problem} */
  function requireOwn(address: string): null {
    const url = requireWebAddress("the pages lead to", address);
    if (url.origin === origin) return null;
    throw new Problem(`the pages lead to ${url.origin}, which is not ${origin}`);
  }

  return {
    signIn: (address, redirectUri) => {
      const { href } = new URL(redirectUri);
      return walk<URLSearchParams>(browser, get(address), {
        before({ url }) {
          const back = parametersAt(url, href);
          if (back === null) return requireOwn(url);
          if (decider.decision === "deny" && back.has("code")) {
            throw new Problem("no consent page came up, so nothing could be denied: this client skips consent");
          }
          return { end: back };
        },
        page(reply) {
          const page = pageOf(reply);
          const parameters = postedParameters(page, redirectUri);
          return parameters === null ? answerTo(page, reply.url, decider) : { end: parameters };
        },
      });
    },
    decideDevice: (address) =>
      walk<undefined>(browser, get(new URL(address, origin).href), {
        before: ({ url }) => requireOwn(url),
        page(reply) {
          const page = pageOf(reply);
          const isDecided = page["state"] === "done" || page["state"] === "denied";
          return isDecided ? { end: undefined } : answerTo(page, reply.url, decider);
        },
      }),
  };
}
