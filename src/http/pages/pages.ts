/*
 * http/pages: the pages for people. A handler makes a view, and a function beside it (login.ts, consent.ts, …; of pages with several
 * handlers here) turns it into the values of its template; render.ts renders with Eta, in the words of texts.ts. views.ts has what views share.
 */
import type { LogoutView, SignedOutView } from "./views.ts";
import { inQuotes, type Mismatch } from "../../core/base/errors.ts";
import { writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./templates/render.ts";
import { plainPageHeaders } from "../answer/security-headers.ts";
import { formatDuration, type Text } from "./templates/texts.ts";
import type { EndedView, ErrorView } from "./error-views.ts";

/** A text in three parts, of which the middle one differs from the text it was compared with. */
interface Parts {
  readonly before: string;
  readonly differs: string;
  readonly after: string;
}

/** What two texts share at both ends, and what differs between. */
function difference(left: string, right: string): { readonly left: Parts; readonly right: Parts } {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const parts = (text: string): Parts => ({
    before: text.slice(0, start),
    differs: text.slice(start, text.length - end),
    after: text.slice(text.length - end),
  });
  return { left: parts(left), right: parts(right) };
}

const size = ({ left, right }: ReturnType<typeof difference>): number => left.differs.length + right.differs.length;

interface Comparison {
  readonly parameter: string;
  readonly sent: Parts;
  readonly registered: readonly Parts[];
  /** The difference to the nearest one in words; null with nothing to compare. */
  readonly words: string | null;
}

/** What was sent beside what would have passed, the nearest first, each with the part that differs. */
function compare({ parameter, sent, registered }: Mismatch, say: (text: Text) => string): Comparison {
  const pairs = registered
    .map((candidate) => difference(sent, candidate))
    .toSorted((one, other) => size(one) - size(other));
  const nearest = pairs[0];
  if (nearest === undefined) {
    return { parameter, sent: { before: sent, differs: "", after: "" }, registered: [], words: null };
  }
  const values = { sent: nearest.left.differs, registered: nearest.right.differs };
  const key = values.sent === "" ? "only-registered" : values.registered === "" ? "only-sent" : "both";
  return {
    parameter,
    sent: nearest.left,
    registered: pairs.map(({ right }) => right),
    words: say({ key: `error.${key}`, values }),
  };
}

/** One function for each page, from a view to HTML. All words are in `templates/locales/`, all markup is in `templates/`. */

export function renderEnded(renderer: Renderer, view: EndedView): Page {
  const { page, say, plain } = writerOf(renderer, view);
  const { client, state, step } = view;
  const isBarred = state === "suspended" || state === "banned";
  const key = isBarred ? `ended.${state}` : `ended.${step}-${state}`;
  const toApp = state === "expired" ? "ended.again" : "ended.to-app";
  const words = client === null ? "" : plain({ key: toApp, values: { client: client.name } });
  return page(
    "ended",
    { name: step, state, title: say(key), failed: state !== "finished", copies: view.fix !== null },
    {
      ...view,
      error: "invalid_request",
      error_description: inQuotes(view.message),
      sentence: say(`${key}.sentence`),
      linkText: state === "no-cookie" ? say(`${key}.link`) : words,
    },
    plainPageHeaders,
  );
}

export function renderLogout(renderer: Renderer, view: LogoutView): Page {
  const { page, say } = writerOf(renderer, view);
  const notes = [say(`note.logout-${view.why}`)];
  return page("logout", { state: "default", title: say("logout.title") }, { others: [], ...view, details: [], notes });
}

export function renderSignedOut(renderer: Renderer, view: SignedOutView): Page {
  const { page, say } = writerOf(renderer, view);
  const heading = { state: view.state, title: say("signed-out.title") };
  const reason = view.stays && say(`signed-out.stays-${view.stays}`);
  const content = { others: [], ...view, sentence: say(`signed-out.${view.state}`), reason };
  return page("signed-out", heading, content, plainPageHeaders);
}

export function renderError(renderer: Renderer, view: ErrorView): Page {
  const { page, plain, lang } = writerOf(renderer, view);
  const isSignOut = view.mismatch?.parameter === "post_logout_redirect_uri";
  const key = isSignOut ? "error.sign-out" : `error.${view.kind}`;
  const sentence = plain({ key: `${key}.sentence`, values: { wait: formatDuration(view.retryAfter ?? 0, lang) } });
  const comparison = view.mismatch && compare(view.mismatch, plain);
  // Message and fix are English, as programs get them. Developers who read another language get the gist of both in theirs.
  const gistOf = (part: string): string | null =>
    lang === renderer.texts.fallback ? null : plain({ key: `${key}.${part}`, values: {} });
  // An option is not broken at its hyphens.
  const fixWords = view.fix?.split(" ").map((text) => ({ text, isOption: text.startsWith("--") })) ?? [];
  return page(
    "error",
    {
      state: view.kind,
      title: plain({ key, values: { user: view.otherUser?.username ?? "" } }),
      failed: true,
      copies: view.fix !== null,
    },
    { ...view, sentence, comparison, gist: gistOf("developer"), fixGist: gistOf("fix"), fixWords },
    plainPageHeaders,
  );
}
