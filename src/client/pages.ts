import type { JsonObject } from "../text/json.ts";
import { Problem, shown } from "./check.ts";
import { jsonOf, refusalOf, requireWebAddress, type Outgoing, type Reply } from "./http.ts";

/** The pages of an idp server as data (`Accept: application/json`), answered for a user. */

export interface Decider {
  /** Username. */
  readonly user: string;
  /** `cancel` already at the login page. */
  readonly decision: "allow" | "deny" | "cancel";
  /** The user's one-time code, once there is one; null: it cannot be known. */
  readonly code: (() => Promise<string>) | null;
  /**
   * Begins the user's session in this browser, where nobody can be picked. Absent: it cannot.
   * @param csrf of the login page
   * @returns where the sign-in goes on
   */
  readonly begin?: ((address: string, csrf: string) => Promise<string>) | undefined;
}

/** @throws {Problem} if it is an error instead of a page */
export function pageOf(reply: Reply): JsonObject {
  const json = jsonOf(reply);
  if (typeof json["page"] === "string" && Array.isArray(json["actions"])) return json;
  throw new Problem(`the server refuses:${refusalOf(json)}`, { refusal: json });
}

/** The parameters of a redirect to the client; null if it leads elsewhere. */
export function parametersAt(location: string, redirectUri: string): URLSearchParams | null {
  const rest = location.startsWith(redirectUri) ? location.slice(redirectUri.length) : null;
  return rest === null || !/^[?&]/.test(rest) ? null : new URLSearchParams(rest.slice(1));
}

const postingPages: readonly unknown[] = ["form-post", "saml-post"];

/** The parameters that a browser would post (`response_mode=form_post`, or a message of SAML); null for another page. */
export function postedParameters(page: JsonObject, redirectUri: string): URLSearchParams | null {
  if (!postingPages.includes(page["page"]) || page["action"] !== redirectUri || !Array.isArray(page["parameters"]))
    return null;
  const parameters = page["parameters"] as readonly Readonly<Record<"name" | "value", unknown>>[];
  return new URLSearchParams(parameters.map(({ name, value }): [string, string] => [String(name), String(value)]));
}

interface Action {
  readonly name: string;
  readonly href: string;
  readonly sends?: Readonly<Record<string, string>>;
}

/** The form that the button sends which leads on. @param address of the page @throws {Problem} if there is none */
export async function answerTo(page: JsonObject, address: string, decider: Decider): Promise<Outgoing> {
  if (page["page"] === "factor") return answerFactor(page, address, decider);
  const { user, decision, begin } = decider;
  const name = page["page"] === "login" && decision !== "cancel" ? "pick" : decision;
  const action = (page["actions"] as readonly Action[]).find((one) => one.name === name);
  if (page["page"] === "login" && name === "pick" && (page["failed"] === true || action === undefined)) {
    if (begin !== undefined && page["failed"] !== true && page["state"] !== "reauth") {
      return { method: "GET", url: await begin(address, String(page["csrf"])) };
    }
    throw refusedBy(page, user);
  }
  if (action === undefined)
    throw new Problem(`the page ${shown(page["page"])} (${shown(page["state"])}) leads nowhere`);
  const form = new URLSearchParams({ csrf: String(page["csrf"]), ...action.sends });
  if (name === "pick") form.set("username", user);
  for (const { name: field, options } of (page["fields"] ?? []) as readonly { name: string; options?: string[] }[]) {
    if (name === "allow") for (const option of options ?? []) form.append(field, option);
  }
  return posted(action, address, form);
}

const posted = ({ href }: Action, address: string, form: URLSearchParams): Outgoing => ({
  method: "POST",
  url: requireWebAddress("the page leads to", href, address).href,
  form,
});

/** Gives the second step: the code, or the button that stands in for a passkey. @throws {Problem} if neither can be given */
async function answerFactor(page: JsonObject, address: string, { user, code }: Decider): Promise<Outgoing> {
  const actions = page["actions"] as readonly Action[];
  const button = actions.find((one) => one.name === "button");
  const typed = actions.find((one) => one.name === "continue");
  const action = button ?? typed;
  if (page["failed"] === true) throw new Problem(`the server refuses the second step of ${user}`);
  if (action === undefined) throw new Problem(`the page asks for a passkey of ${user}, which only a browser has`);
  const form = new URLSearchParams({ csrf: String(page["csrf"]), ...action.sends });
  if (action === typed) {
    if (code === null)
      throw new Problem(`the page asks for a one-time code of ${user}, which this command cannot know`);
    form.set("otp", await code());
  }
  return posted(action, address, form);
}

/** Why nobody is signed in, in the words of the login page. */
function refusedBy(page: JsonObject, user: string): Problem {
  if (page["state"] === "reauth") {
    return new Problem(`the request needs the password of ${user}, and this command picks the user from a list`);
  }
  if (page["failed"] !== true) {
    return new Problem(
      "the login page takes passwords only, and this command picks the user from a list: start the server with --login picker",
    );
  }
  const { text, fix } = Object(page["message"]) as JsonObject;
  const next = typeof fix === "string" ? ` How to fix it: ${fix}` : "";
  return new Problem(`${typeof text === "string" ? text : `the login page refuses ${user}.`}${next}`);
}
