import type { ScimRequest } from "./profiles.ts";
import { cut, cutBetween } from "../text/redacted.ts";
import type { Resource } from "./resource.ts";

/** What every sender of these requests has to do: say who asks, keep the token out of what it shows, and send again what was refused for now. */

/** How an app recognizes its provisioning client: a bearer token, or `user:password`. */
export type ScimToken = string | { readonly basic: string };

/** Entra ID's flag for requests as the standard has them, which its customers write into the address. */
const compliantFlag = /\?aadOptscim062020$/i;

/** Whether an address has a query that is not this flag. */
export const hasOtherQuery = (url: string): boolean => url.replace(compliantFlag, "").includes("?");

export const wantsCompliant = (url: string): boolean => compliantFlag.test(url);

/** The address below which Users and Groups are. */
export const baseOf = (url: string): string => url.replace(compliantFlag, "").replace(/\/+$/, "");

/** The header `Authorization`; undefined without a token. */
export const authorizationOf = (token: ScimToken | undefined): string | undefined => {
  if (token === undefined) return undefined;
  return typeof token === "string" ? `Bearer ${token}` : `Basic ${Buffer.from(token.basic).toString("base64")}`;
};

/** Every text that opens the app. */
export function secretsOf(token: ScimToken | undefined): readonly string[] {
  if (token === undefined) return [];
  if (typeof token === "string") return [token];
  const [, password = ""] = /:(.*)$/s.exec(token.basic) ?? [];
  return [token.basic, Buffer.from(token.basic).toString("base64"), ...(password.length < 4 ? [] : [password])];
}

/** 429 and 503: how often, and for how many seconds at most. */
const maxLimited = 3;
const maxWaitSeconds = 30;
/** Other 5xx and lost answers: how often. */
const maxRepeats = 2;
const shortWaitMs = 100;

/** `Retry-After` in milliseconds: seconds, or a date (RFC 9110 10.2.3); a second without one. */
function waitOf(retryAfter: string | undefined, now: number): number {
  const seconds = /^\d{1,9}$/.test(retryAfter ?? "") ? Number(retryAfter) : (Date.parse(retryAfter ?? "") - now) / 1000;
  return Math.min(Math.max(Number.isNaN(seconds) ? 1 : seconds, 0), maxWaitSeconds) * 1000;
}

/** Whether a request that is done twice may leave something twice: a creation, or members who join. */
function adds({ method, body }: ScimRequest): boolean {
  const operations = (body?.["Operations"] ?? []) as readonly { readonly op: string }[];
  return method === "POST" || operations.some(({ op }) => op.toLowerCase() === "add");
}

/** When one request is sent again. */
export class Repeats {
  readonly #adds: boolean;
  #limited = 0;
  #repeated = 0;

  constructor(request: ScimRequest) {
    this.#adds = adds(request);
  }

  /**
   * @param status of the last answer; 0: there was none
   * @param now milliseconds
   * @returns the milliseconds until it is sent again; null: it is not
   */
  after(status: number, retryAfter: string | undefined, now: number): number | null {
    if ((status === 429 || status === 503) && this.#limited < maxLimited) {
      this.#limited += 1;
      return waitOf(retryAfter, now);
    }
    // What was lost may have been done: the caller looks first.
    const mayRepeat = status >= 500 ? status !== 503 : status === 0 && !this.#adds;
    if (!mayRepeat || this.#repeated >= maxRepeats) return null;
    this.#repeated += 1;
    return shortWaitMs * this.#repeated;
  }
}

/** What a SCIM server answered, and what that says. */

export interface ScimResponse {
  /** 0: there was none. */
  readonly status: number;
  /** The body; null: it was not a JSON object. */
  readonly json: Resource | null;
  /** Why there was no answer, or what to do about it; null: the answer says enough. */
  readonly problem: string | null;
}

export const isGood = ({ status }: ScimResponse): boolean => status >= 200 && status < 300;

const maxLength = 300;

/** Somebody else's text on one line. */
const tidy = (text: string): string =>
  // eslint-disable-next-line no-control-regex
  cutBetween(text.replaceAll(/[\x00-\x1f\x7f-\x9f\u2028\u2029]+/g, " ").trim(), maxLength);

/** "invalidValue: 'active' must be a boolean", of an error (RFC 7644 3.12), or why an answer cannot be used; null: it does not say. */
export function detailOf({ status, json, problem }: ScimResponse): string | null {
  if (problem !== null) return problem;
  if (status >= 300 && status < 400) return null;
  const { scimType, detail } = json ?? {};
  const words = [scimType, detail].filter((one): one is string => typeof one === "string" && one !== "");
  return words.length === 0 ? null : tidy(words.join(": "));
}

/** The detail of an error; "answered 500" without one. */
export function reasonOf(response: ScimResponse): string {
  const { status } = response;
  const redirected = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
  return detailOf(response) ?? `answered ${status}${redirected}`;
}

/** What the app should accept, where it refused a request. */
export function adviceFor({ method, path, body }: ScimRequest): string {
  const operations = (body?.["Operations"] ?? []) as readonly Readonly<Record<string, unknown>>[];
  if (method === "PATCH") {
    if (operations.some((one) => one["path"] === undefined)) return "accept a value without a path (RFC 7644 3.5.2.3)";
    if (operations.some((one) => one["value"] === "False" || one["value"] === "True"))
      return 'accept "True" and "False" for active, in any case, as Entra ID sends them';
    if (operations.some((one) => String(one["op"]).toLowerCase() === "remove" && one["value"] !== undefined))
      return "let remove with the path members take away those of its value, as Entra ID sends them";
    if (operations.some((one) => String(one["path"]).includes("[")))
      return "accept a path with a filter (RFC 7644 3.5.2)";
    return "accept PATCH, with op in any case (RFC 7644 3.5.2)";
  }
  if (method === "PUT") return "accept a whole resource by PUT (RFC 7644 3.5.1)";
  if (method === "POST") return "answer 201 with the new resource (RFC 7644 3.3)";
  if (method === "DELETE") return "answer 204 (RFC 7644 3.6)";
  return path.includes("filter=")
    ? "answer a filter with a ListResponse (RFC 7644 3.4.2)"
    : "answer 200 with the resource (RFC 7644 3.4.1)";
}

/** What was sent, in one line: the operations of a PATCH, else the method and the path. */
export function sentIn({ method, path, body }: ScimRequest): string {
  const operations = body?.["Operations"];
  if (Array.isArray(operations)) return cut(operations.map((one) => JSON.stringify(one)).join(" "), 500);
  return `${method} ${path}`;
}
