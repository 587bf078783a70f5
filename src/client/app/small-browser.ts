import { ScriptlessBrowser } from "../browser.ts";
import { Problem } from "../check.ts";
import { maxSteps, redirectOf, type Outgoing, type Reply } from "../http.ts";
import { answerPage, pageOf, postedParameters } from "../pages.ts";
import { addressOf, isIdp, type Browser, type End, type Places, type Visit } from "./visit.ts";
import { onlyForm, refreshOf } from "./html.ts";
import { endBefore, newProgress, type Progress } from "./progress.ts";

/** A browser without scripts: cookies, redirects and forms. It opens nothing but the app and idp. */

const html = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/** What to do next, or where it ends. */
type Next = Outgoing | End;

const isEnd = (next: Next): next is End => "kind" in next;
const stuck = (why: string): End => ({ kind: "stuck", why });
const get = (url: string): Outgoing => ({ method: "GET", url });

export function smallBrowser(places: Places): Browser {
  const browser = new ScriptlessBrowser((url) => {
    const headers = { "accept-language": "en", "user-agent": "Mozilla/5.0 (compatible; idp check)" };
    // The server of the check is where the operator says it is.
    return isIdp(places, url)
      ? { headers: { accept: "application/json", ...headers } }
      : { headers: { accept: html, ...headers }, lookup: places.lookup };
  });

  /** What comes after a page of idp. */
  async function afterIdp(reply: Reply, progress: Progress): Promise<Next> {
    const page = pageOf(reply);
    const redirectUri = String(page["action"]);
    const parameters = postedParameters(page, redirectUri);
    if (parameters !== null) {
      progress.response = { redirectUri, mode: "form_post", parameters };
      return { method: "POST", url: redirectUri, form: parameters };
    }
    const decision = places.cancels === true ? "cancel" : "allow";
    const moved = await answerPage(page, { user: places.user, decision, code: null }, (href, form) =>
      browser.submit(reply, href, form),
    );
    progress.steps.push({ url: new URL(moved.url), isApp: false, status: moved.status });
    return redirectOf(moved) ?? afterIdp(moved, progress);
  }

  /** What comes after a page of the app. */
  function afterApp({ url, status, text, headers }: Reply, signsIn: boolean): Next {
    const end: End = { kind: "page", url, status, text };
    if (status >= 400 || !(headers["content-type"] ?? "").includes("html")) return end;
    const refresh = refreshOf(text, url);
    if (refresh !== null && refresh !== url) return get(refresh);
    const form = signsIn ? onlyForm(text, url) : null;
    return form === null ? end : { method: "POST", url: form.action, form: form.fields };
  }

  async function walk(first: Outgoing, progress: Progress): Promise<End> {
    let next: Next = first;
    let from: string | null = progress.delivered ? places.issuer : null;
    for (let count = 0; count < maxSteps; count += 1) {
      if (isEnd(next)) return next;
      const url = new URL(next.url);
      const end = endBefore(places, progress, url, progress.response?.mode === "form_post" ? progress.response : null);
      if (end !== null) return end;
      if (progress.response?.mode === "fragment") {
        return stuck("the response is in the fragment of the address, which only scripts read: add --browser");
      }
      const atIdp = isIdp(places, url);
      const reply = await browser.request(next, from);
      progress.steps.push({ url, isApp: !atIdp, status: reply.status });
      from = reply.url;
      next = redirectOf(reply) ?? (atIdp ? await afterIdp(reply, progress) : afterApp(reply, progress.signsIn));
      // A page that the app shows after the sign-in ends the visit, whatever form is on it.
      if (!isEnd(next) && progress.delivered && next.method === "POST") {
        return { kind: "page", url: reply.url, status: reply.status, text: reply.text };
      }
    }
    return stuck(`the browser was sent from address to address ${maxSteps} times`);
  }

  async function visit(first: Outgoing, progress: Progress): Promise<Visit> {
    const end = await walk(first, progress).catch((error: unknown) => {
      if (error instanceof Problem) return stuck(error.message);
      throw error;
    });
    return { steps: progress.steps, request: progress.request, response: progress.response, end };
  }

  return {
    signIn: (address, hold) => visit(get(address), newProgress(true, hold !== undefined, null)),
    deliver: (response) => {
      const { mode, redirectUri: url, parameters: form } = response;
      const first: Outgoing = mode === "form_post" ? { method: "POST", url, form } : get(addressOf(response));
      return visit(first, newProgress(true, false, response));
    },
    look: (address) => visit(get(address), newProgress(false, false, null)),
    close: () => Promise.resolve(),
  };
}
