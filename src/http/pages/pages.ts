/*
 * http/pages: the pages for people. A handler (login.ts, consent.ts, …) makes a view (views.ts); pages.ts turns it into the values of its
 * template; render.ts renders with Eta, in the words of texts.ts.
 */
import {
  pickerPageSize,
  themes,
  type AccountRevokeView,
  type AccountView,
  type LoginView,
  type LogoutView,
  type PickerView,
  type SignedOutView,
} from "./views.ts";
import { inQuotes, type Mismatch } from "../../core/errors.ts";
import { writerOf, type Page } from "./page-writer.ts";
import { passkeyScript, type Renderer } from "./templates/render.ts";
import { formPageHeaders, passkeyPageHeaders, plainPageHeaders } from "../answer/security-headers.ts";
import {
  formatDuration,
  formatNumber,
  formatMoment,
  formatTime,
  nameOfLanguage,
  timeZoneHere,
  type Text,
} from "./templates/texts.ts";
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

function pickerLinks({ href, query, page, pages }: PickerView): { previous: string | null; next: string | null } {
  const to = (target: number): string | null => {
    if (target < 1 || target > pages) return null;
    const parameters = new URLSearchParams();
    if (query !== "") parameters.append("q", query);
    parameters.append("page", String(target));
    return `${href}?${parameters.toString()}`;
  };
  return { previous: to(page - 1), next: to(page + 1) };
}

/** The sentence for a state of the login page, and the command that fixes it. */
function loginMessage(
  renderer: Renderer,
  view: LoginView,
): { text: string; fix: string | null; command: string | null } | null {
  const { lang, plain } = writerOf(renderer, view);
  if (view.message !== null) return { ...view.message, text: plain(view.message.text) };
  if (view.state === "default" || view.state === "hint") return null;
  const text =
    view.state === "reauth" && view.reauth !== null
      ? {
          key: "login.reauth-max-age",
          values: {
            ago: formatDuration(view.reauth.signedInAgo, lang),
            most: formatDuration(view.reauth.maxAge, lang),
          },
        }
      : {
          key: view.state === "reauth" && view.passwordNeeded ? "login.reauth-password" : `login.${view.state}`,
          values: { username: view.username },
        };
  return { text: plain(text), fix: null, command: null };
}

export function renderLogin(renderer: Renderer, view: LoginView): Page {
  const { page, lang, say, plain } = writerOf(renderer, view);
  const { picker, state } = view;
  const count = (number: number): string => formatNumber(number, lang);
  const failed = state.startsWith("error-");
  const wrong = state === "error-credentials";
  const title = say(state === "reauth" ? "login.title-reauth" : "login.title");
  const first = picker === null ? 0 : (picker.page - 1) * pickerPageSize + 1;
  return page(
    "login",
    { state, title, failed, copies: view.message !== null && view.message.fix !== null },
    {
      wrong,
      // After a wrong password, the person is about to use that form.
      passwordFirst: picker === null || wrong,
      passwordOpen: failed || state === "hint",
      ...view,
      notes: view.notes.map(plain),
      message: loginMessage(renderer, view),
      picker: picker && {
        from: count(first),
        to: count(first + picker.users.length - 1),
        totalWords: count(picker.total),
        ...picker,
        ...pickerLinks(picker),
        beyondWords: picker.beyond && {
          looked: count(picker.beyond.looked),
          everybody: count(picker.beyond.everybody),
        },
      },
    },
  );
}

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

/** @param timeZone an IANA name */
export function renderAccount(renderer: Renderer, view: AccountView, timeZone = timeZoneHere()): Page {
  const { page, lang, say, titled, field } = writerOf(renderer, view);
  const state = view.outcome?.kind ?? (["none", "one"][view.apps.length] || "many");
  const time = (iso: string): string => formatTime(iso, lang, timeZone);
  return page(
    "account",
    { state, title: say("account.title") },
    {
      ...view,
      script: view.passkeyOptions === null ? null : passkeyScript(renderer, view.base),
      passkeys: view.passkeys.map((one) => ({ ...one, sinceWords: time(one.since) })),
      fields: view.fields.map(field),
      // To the second, since several sessions may begin within a minute.
      sessions: view.sessions.map((session) => ({
        ...session,
        sinceWords: formatMoment(session.since, lang, timeZone),
      })),
      languages: view.languages.map((code) => ({ code, name: nameOfLanguage(code), current: code === view.language })),
      themes: themes.map((name) => ({ name, key: `theme.${name}`, current: name === view.chosenTheme })),
      apps: view.apps.map((app) => ({
        ...app,
        sinceWords: time(app.since),
        lastUsedWords: app.lastUsed === null ? null : time(app.lastUsed),
        scopes: app.scopes.map(titled),
      })),
    },
    view.passkeyOptions === null ? formPageHeaders : passkeyPageHeaders,
  );
}

export function renderAccountRevoke(renderer: Renderer, view: AccountRevokeView): Page {
  const { page, lang, plain, titled } = writerOf(renderer, view);
  const title = plain({ key: "revoke.title", values: { client: view.client.name } });
  const scopes = view.scopes.map(titled);
  const outlived = view.outlivedBy === null ? null : formatDuration(view.outlivedBy, lang);
  return page("account-revoke", { name: "account", state: "revoke", title }, { ...view, scopes, outlived });
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
