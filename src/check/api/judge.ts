import { noticed, unnoticed, type Finding } from "../frame/verdict.ts";
import type { Reply } from "../../client/http.ts";

/** What the answer of an API says. */

interface Challenge {
  /** In lower case. */
  readonly scheme: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The challenges of `WWW-Authenticate` (RFC 9110 11.6.1). */
export function challengesOf({ headers }: Reply): readonly Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  const parts = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*("(?:\\.|[^"\\])*"|[^\s,"]+))?/g;
  for (const [, name = "", value] of (headers["www-authenticate"] ?? "").matchAll(parts)) {
    if (value === undefined) found.push({ scheme: name.toLowerCase(), parameters: new Map() });
    else found.at(-1)?.parameters.set(name.toLowerCase(), value.replace(/^"(.*)"$/s, "$1").replaceAll(/\\(.)/g, "$1"));
  }
  return found;
}

/** The error of a challenge, or of a JSON body; null without one. */
function errorOf(reply: Reply): string | null {
  const inChallenge = challengesOf(reply).find(({ parameters }) => parameters.has("error"));
  if (inChallenge !== undefined) return inChallenge.parameters.get("error") ?? null;
  try {
    const { error } = Object(JSON.parse(reply.text)) as { readonly error?: unknown };
    return typeof error === "string" ? error : null;
  } catch {
    return null;
  }
}

export const letsIn = ({ status }: Reply): boolean => status >= 200 && status < 300;

/** "answered 401 invalid_token"; why there was no answer, where the status is 0. */
export function answered(reply: Reply): string {
  if (reply.status === 0) return reply.text;
  const error = errorOf(reply);
  return `answered ${reply.status}${error === null ? "" : ` ${error.slice(0, 60)}`}`;
}

/** What a refusal may look like. @returns null, or what it must be: "401" */
type Allowed = (reply: Reply) => string | null;

const only =
  (...statuses: readonly number[]): Allowed =>
  ({ status }) =>
    statuses.includes(status) ? null : statuses.join(" or ");

export const unauthorized = only(401);
export const unauthorizedOrForbidden = only(401, 403);
/** A request that is not one (RFC 6750 3.1). */
export const unauthorizedOrInvalid: Allowed = (reply) =>
  reply.status === 401 || (reply.status === 400 && errorOf(reply) === "invalid_request")
    ? null
    : "401, or 400 invalid_request";
export const anyRefusal: Allowed = () => null;

const failing = {
  mustNot: "the API fails, where it has to refuse",
  fix: "turn every error of the code that reads tokens into a 401",
};

/** Nobody is let in, but by another answer than the standard asks for. @param must "401" */
export function wrongRefusal(reply: Reply, must: string, did = answered(reply)): Finding {
  if (reply.status === 0) return unnoticed(`failed instead of refusing: ${did}`, failing);
  if (reply.status >= 300 && reply.status < 400) {
    return unnoticed(`redirected instead of refusing: ${did}, and must answer ${must}`, {
      mustNot: "the API redirects, where it has to refuse",
      fix: `answer ${must}: a redirect is for people, and clients of an API follow it`,
    });
  }
  return unnoticed(`${did}, and must answer ${must}`, {
    mustNot: "the refusal is not the one that the standard asks for",
    fix: `answer ${must} in the place that refuses`,
  });
}

/** @param what of several requests was sent; null: there is one */
export function judged(reply: Reply, allowed: Allowed, what: string | null = null): Finding {
  const did = `${answered(reply)}${what === null ? "" : ` to ${what}`}`;
  if (letsIn(reply)) return unnoticed(`let it in: ${did}`);
  if (reply.status === 0 || reply.status >= 500) return unnoticed(`failed instead of refusing: ${did}`, failing);
  const must = allowed(reply);
  return must === null ? noticed(did) : wrongRefusal(reply, must, did);
}
