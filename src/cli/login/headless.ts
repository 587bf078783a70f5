import { Problem, shown } from "../../client/check.ts";
import { jsonOf, refusalOf, send, type Json, type Reply } from "../../client/http.ts";

/** Answers the pages of an idp server in a user's place: as data (`Accept: application/json`), with a jar for its cookies. */

export interface Decider {
  /** Username. */
  readonly user: string;
  readonly decision: "allow" | "deny";
}

interface Pages {
  /** From the authorization request to what comes back to the redirect URI. @throws {Problem} where it stops on the way */
  signIn(address: string, redirectUri: string): Promise<URLSearchParams>;
  /** From the address for a device's user to the decision. @throws {Problem} */
  decideDevice(address: string): Promise<void>;
}

/** A sign-in is a handful of steps; more is a circle. */
const mostSteps = 20;

/** @param issuer of the server: nothing else is ever asked */
export function pagesOf(issuer: string, decider: Decider): Pages {
  const { origin } = new URL(issuer);
  const jar = new Map<string, string>();

  async function request(address: string, form?: URLSearchParams): Promise<Reply> {
    const url = new URL(address, origin);
    if (url.origin !== origin) throw new Problem(`the pages lead to ${url.origin}, which is not ${origin}`);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const method = form === undefined ? "GET" : "POST";
    const reply = await send({
      method,
      url: url.href,
      headers: cookie === "" ? {} : { cookie },
      ...(form !== undefined && { form }),
    });
    for (const line of reply.headers["set-cookie"] ?? []) {
      const [name = "", value = ""] = (line.split(";")[0] ?? "").split(/=(.*)/s);
      jar.set(name, value);
    }
    return reply;
  }

  /** Walks from page to page until one of them is the end. @param arrived what is there, where this is it */
  async function walk<T>(begin: string, arrived: (step: Step) => T | null): Promise<T> {
    let reply = await request(begin);
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const location = reply.headers.location;
      const moved = reply.status >= 300 && reply.status < 400 && location !== undefined;
      const page = moved ? null : pageOf(reply);
      const end = arrived({ location: moved ? location : null, page });
      if (end !== null) return end;
      if (page !== null) reply = await answerPage(page, decider, request);
      else reply = await request(location ?? "");
    }
    throw new Problem(`the pages go in a circle: ${mostSteps} steps, and no end`);
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
  readonly page: Json | null;
}

/** @throws {Problem} where it is an error and no page that goes on */
function pageOf(reply: Reply): Json {
  const json = jsonOf(reply);
  if (typeof json["page"] === "string" && Array.isArray(json["actions"])) return json;
  throw new Problem(`the server refuses:${refusalOf(json)}`);
}

/** The parameters of a redirect back to the client; null: it leads elsewhere. */
function parametersAt(location: string, redirectUri: string): URLSearchParams | null {
  const rest = location.startsWith(redirectUri) ? location.slice(redirectUri.length) : null;
  return rest === null || !/^[?&]/.test(rest) ? null : new URLSearchParams(rest.slice(1));
}

/** Those that a browser would post back (`response_mode=form_post`); null: this is another page. */
function postedParameters(page: Json, redirectUri: string): URLSearchParams | null {
  if (page["page"] !== "form-post" || page["action"] !== redirectUri || !Array.isArray(page["parameters"])) return null;
  const parameters = page["parameters"] as readonly Readonly<Record<"name" | "value", unknown>>[];
  return new URLSearchParams(parameters.map(({ name, value }): [string, string] => [String(name), String(value)]));
}

interface Action {
  readonly name: string;
  readonly href: string;
  readonly sends?: Readonly<Record<string, string>>;
}

/** Presses the button that leads on. @throws {Problem} where there is none */
async function answerPage(
  page: Json,
  { user, decision }: Decider,
  request: (address: string, form: URLSearchParams) => Promise<Reply>,
): Promise<Reply> {
  const name = page["page"] === "login" ? "pick" : decision;
  const action = (page["actions"] as readonly Action[]).find((one) => one.name === name);
  if (page["page"] === "login" && (page["failed"] === true || action === undefined)) throw refusedBy(page, user);
  if (action === undefined)
    throw new Problem(`the page ${shown(page["page"])} (${shown(page["state"])}) leads nowhere`);
  const form = new URLSearchParams({ csrf: String(page["csrf"]), ...action.sends });
  if (name === "pick") form.set("username", user);
  for (const { name: field, options } of (page["fields"] ?? []) as readonly { name: string; options?: string[] }[]) {
    if (name === "allow") for (const option of options ?? []) form.append(field, option);
  }
  return request(action.href, form);
}

/** Why nobody is signed in, in the words of the login page. */
function refusedBy(page: Json, user: string): Problem {
  if (page["failed"] !== true) {
    return new Problem(
      "the login page takes passwords only; without a person, users are picked: start the server with --login picker",
    );
  }
  const { text, fix } = Object(page["message"]) as Json;
  const next = typeof fix === "string" ? ` How to fix it: ${fix}` : "";
  return new Problem(`${typeof text === "string" ? text : `the login page refuses ${user}.`}${next}`);
}
