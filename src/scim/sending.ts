import type { ScimRequest } from "./profiles.ts";

/** What every sender of these requests has to do: say who asks, keep the token out of what it shows, and send again what was refused for now. */

/** How an app recognizes its provisioning client: a bearer token, or `user:password`. */
export type ScimToken = string | { readonly basic: string };

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
