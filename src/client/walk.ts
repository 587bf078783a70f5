import type { ScriptlessBrowser } from "./browser.ts";
import { Problem } from "./check.ts";
import { maxSteps, redirectOf, type Outgoing, type Reply } from "./http.ts";

/** Walks a browser without scripts from request to request: redirects are followed, pages are answered, until somebody says that it ends. */

/** A request that goes on, or where the walk ends. */
export type Next<E> = Outgoing | { readonly end: E };

export interface Walk<E> {
  /** Looks at a request before it is sent. @returns where the walk ends; null: it goes on */
  readonly before: (next: Outgoing) => Promise<{ readonly end: E } | null> | { readonly end: E } | null;
  /** Called with each answer. */
  readonly answered?: (reply: Reply) => void;
  /** What a page leads to. */
  readonly page: (reply: Reply) => Promise<Next<E>> | Next<E>;
}

/** @param from the page that leads to the first request; null if none does @throws {Problem} if it cannot go on */
export async function walk<E>(
  browser: ScriptlessBrowser,
  first: Outgoing,
  { before, answered, page }: Walk<E>,
  from: string | null = null,
): Promise<E> {
  let next = first;
  let last = from;
  for (let step = 0; step < maxSteps; step += 1) {
    const ended = await before(next);
    if (ended !== null) return ended.end;
    const reply = await browser.request(next, last);
    answered?.(reply);
    const then = redirectOf(reply) ?? (await page(reply));
    if ("end" in then) return then.end;
    last = reply.url;
    next = then;
  }
  throw new Problem(`the browser was sent from address to address ${maxSteps} times`);
}
