/*
 * http/pages: the pages for people. A handler (login.ts, consent.ts, …) makes a view (views.ts); pages.ts turns it into the values of its
 * template; render.ts renders with Eta, in the words of texts.ts.
 */
import { inQuotes } from "../../core/errors.ts";
import { compare } from "./comparison.ts";
import { writerOf, type Page } from "./page-writer.ts";
import { summaryOf } from "./templates/field-words.ts";
import { passkeyScript, type Renderer } from "./templates/render.ts";
import { formPageHeaders, passkeyPageHeaders, plainPageHeaders } from "../answer/security-headers.ts";
import {
  formatClock,
  formatDuration,
  formatNumber,
  formatMoment,
  formatTime,
  nameOfLanguage,
  timeZoneHere,
} from "./templates/texts.ts";
import type {
  AccountRevokeView,
  AccountView,
  DeviceView,
  LoginView,
  LogoutView,
  ConsentView,
  PickerView,
  SignedOutView,
} from "./views.ts";
import type { EndedView, ErrorView } from "./error-views.ts";
import { pickerPageSize, themes } from "./views.ts";

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
function loginMessage(renderer: Renderer, view: LoginView): { text: string; fix: string | null } | null {
  const { lang, plain } = writerOf(renderer, view);
  if (view.message !== null) return { text: plain(view.message.text), fix: view.message.fix };
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
  return { text: plain(text), fix: null };
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

export function renderConsent(renderer: Renderer, view: ConsentView): Page {
  const { page, lang, say, plain, titled, field } = writerOf(renderer, view);
  const rows = (scopes: ConsentView["scopes"]["fresh"]) =>
    scopes.map((scope) => {
      const { name, title, titleLang } = titled(scope);
      const { locked, declined, values } = scope;
      const gives = summaryOf(values, lang, say);
      return { name, title, titleLang, locked, checked: !declined, values: values.map(field), gives };
    });
  const granted = rows(view.scopes.granted);
  const title = plain({ key: "consent.page-title", values: { client: view.client.name } });
  return page(
    "consent",
    { state: view.state, title },
    {
      grantedTitles: granted.map(({ title }) => title).join(", "),
      ...view,
      notes: view.notes.map(plain),
      always: view.always.map(field),
      scopes: { fresh: rows(view.scopes.fresh), granted },
    },
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

export function renderDevice(renderer: Renderer, view: DeviceView): Page {
  const { page, lang, say, titled } = writerOf(renderer, view);
  const { state, usableUntil } = view;
  const failed = state === "invalid" || state === "expired" || state === "used";
  const answered = state === "done" || state === "denied";
  return page(
    "device",
    { state, title: say(answered ? `device.title-${state}` : "device.title"), failed },
    {
      ...view,
      message: failed || answered ? say(`device.${state}`) : null,
      usableUntilWords: usableUntil === null ? null : formatClock(usableUntil, lang, timeZoneHere()),
      scopes: view.scopes.map(titled),
    },
    answered ? plainPageHeaders : formPageHeaders,
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
  // The message is English, as programs get it. Developers who read another language get the gist in theirs.
  const gist = lang === renderer.texts.fallback ? null : plain({ key: `${key}.developer`, values: {} });
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
    { ...view, sentence, comparison, gist, fixWords },
    plainPageHeaders,
  );
}
