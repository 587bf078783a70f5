import type { Response } from "express";
import { avatarOf, type Avatar } from "./avatar.ts";
import { compare } from "./comparison.ts";
import type { Renderer } from "./render.ts";
import { formPageHeaders, formPostHeaders, plainPageHeaders } from "./security-headers.ts";
import { formatDuration, formatTime } from "./texts.ts";
import type {
  AccountRevokeView,
  AccountView,
  DeviceView,
  EndedView,
  ErrorView,
  FieldView,
  FormPostView,
  LoginView,
  LogoutView,
  ConsentView,
  PersonView,
  PickerView,
  SignedOutView,
  View,
} from "./views.ts";
import { pickerPageSize } from "./views.ts";

/** The pages: one function each, from a view to HTML. All words are in `templates/locales/`, all marks in `templates/`. */

/** A page ready to be sent. */
export interface Page {
  readonly html: string;
  /** The security headers it is sent with. */
  readonly headers: Readonly<Record<string, string>>;
}

export function sendPage(response: Response, status: number, page: Page): void {
  response.status(status).set(page.headers).type("html").send(page.html);
}

const withAvatar = <P extends PersonView>(person: P): P & { readonly avatar: Avatar } => ({
  ...person,
  avatar: avatarOf(person.displayName, person.color),
});

/** The words of one page: in its language, out of the catalogue. */
function wordsOf({ texts }: Renderer, view: View) {
  const lang = texts.language(view.lang);
  const has = (key: string): boolean => texts.has(lang, key);
  const say = (key: string): string => texts.plain(lang, { key, values: {} });
  return {
    lang,
    say,
    plain: (text: Parameters<typeof texts.plain>[1]) => texts.plain(lang, text),
    /** A scope's title: the one given, else the catalogue's, else its name. */
    scopeTitle: (scope: { readonly name: string; readonly title: string | null }): string =>
      scope.title ?? (has(`scope.${scope.name}`) ? say(`scope.${scope.name}`) : scope.name),
    field: ({ name, value }: FieldView) => ({
      label: has(`field.${name}`) ? say(`field.${name}`) : name,
      value: typeof value === "boolean" ? say(value ? "value.yes" : "value.no") : value,
    }),
  };
}

function pickerLinks({ href, query, page, pages }: PickerView): { previous: string | null; next: string | null } {
  const to = (target: number): string | null =>
    target < 1 || target > pages
      ? null
      : `${href}?${new URLSearchParams({ ...(query === "" ? {} : { q: query }), page: String(target) }).toString()}`;
  return { previous: to(page - 1), next: to(page + 1) };
}

/** The sentence that belongs to a state of the login page, and the command that mends it. */
function loginMessage(renderer: Renderer, view: LoginView): { text: string; fix: string | null } | null {
  const { lang, plain } = wordsOf(renderer, view);
  if (view.message !== null) return { text: plain(view.message.text), fix: view.message.fix };
  if (view.state === "default" || view.state === "hint") return null;
  const isBarred = view.state === "error-suspended" || view.state === "error-banned";
  const text =
    view.state === "reauth" && view.reauth !== null
      ? {
          key: "login.reauth-max-age",
          values: {
            ago: formatDuration(view.reauth.signedInAgo, lang),
            most: formatDuration(view.reauth.maxAge, lang),
          },
        }
      : { key: `login.${view.state}`, values: { username: view.username } };
  return { text: plain(text), fix: isBarred ? `idp users restore ${view.username}` : null };
}

export async function renderLogin(renderer: Renderer, view: LoginView): Promise<Page> {
  const { lang, say, plain } = wordsOf(renderer, view);
  const failed = view.state.startsWith("error-");
  const wrong = view.state === "error-credentials";
  const frame = {
    name: "login",
    state: view.state,
    lang,
    base: view.base,
    title: say(view.state === "reauth" ? "login.title-reauth" : "login.title"),
    failed,
  };
  const first = view.picker === null ? 0 : (view.picker.page - 1) * pickerPageSize + 1;
  const html = await renderer.render("login", frame, {
    ...view,
    notes: view.notes.map(plain),
    message: loginMessage(renderer, view),
    wrong,
    // After a wrong password, that form is what the person is busy with.
    passwordFirst: view.picker === null || wrong,
    passwordOpen: failed || view.state === "hint",
    picker: view.picker && {
      ...view.picker,
      ...pickerLinks(view.picker),
      from: String(first),
      to: String(first + view.picker.users.length - 1),
      total: String(view.picker.total),
      users: view.picker.users.map((user) => ({
        ...withAvatar(user),
        statusWord: user.status === "active" ? "" : say(`status.${user.status}`),
      })),
    },
  });
  return { html, headers: formPageHeaders };
}

export async function renderEnded(renderer: Renderer, view: EndedView): Promise<Page> {
  const { lang, say, plain } = wordsOf(renderer, view);
  const key = `ended.${view.step}-${view.state}`;
  const toApp =
    view.client === null
      ? say("ended.to-unnamed-app")
      : plain({ key: "ended.to-app", values: { client: view.client.name } });
  const frame = {
    name: view.step,
    state: view.state,
    lang,
    base: view.base,
    title: say(key),
    failed: view.state !== "finished",
  };
  const html = await renderer.render("ended", frame, {
    ...view,
    sentence: say(`${key}.sentence`),
    linkText: view.state === "no-cookie" ? say(`${key}.link`) : toApp,
  });
  return { html, headers: plainPageHeaders };
}

export async function renderConsent(renderer: Renderer, view: ConsentView): Promise<Page> {
  const { lang, plain, scopeTitle, field } = wordsOf(renderer, view);
  const rows = (scopes: ConsentView["scopes"]["fresh"]) =>
    scopes.map((scope) => ({ ...scope, title: scopeTitle(scope), values: scope.values.map(field) }));
  const frame = {
    name: "consent",
    state: view.state,
    lang,
    base: view.base,
    title: plain({ key: "consent.page-title", values: { client: view.client.name } }),
    failed: false,
  };
  const html = await renderer.render("consent", frame, {
    ...view,
    notes: view.notes.map(plain),
    user: withAvatar(view.user),
    scopes: { fresh: rows(view.scopes.fresh), granted: rows(view.scopes.granted) },
  });
  return { html, headers: formPageHeaders };
}

/** @param timeZone an IANA name; a browser does not say which one its user lives in */
export async function renderAccount(renderer: Renderer, view: AccountView, timeZone = "UTC"): Promise<Page> {
  const { lang, say, scopeTitle, field } = wordsOf(renderer, view);
  const state = view.outcome?.kind ?? (["none", "one"][view.apps.length] || "many");
  const html = await renderer.render(
    "account",
    { name: "account", state, lang, base: view.base, title: say("account.title"), failed: false },
    {
      ...view,
      user: withAvatar(view.user),
      fields: view.fields.map(field),
      apps: view.apps.map((app) => ({
        ...app,
        sinceWords: formatTime(app.since, lang, timeZone),
        scopes: app.scopes.map((scope) => ({ name: scope.name, title: scopeTitle(scope) })),
      })),
    },
  );
  return { html, headers: formPageHeaders };
}

export async function renderAccountRevoke(renderer: Renderer, view: AccountRevokeView): Promise<Page> {
  const { lang, plain, scopeTitle } = wordsOf(renderer, view);
  const title = plain({ key: "revoke.title", values: { client: view.client.name } });
  const html = await renderer.render(
    "account-revoke",
    { name: "account", state: "revoke", lang, base: view.base, title, failed: false },
    { ...view, scopes: view.scopes.map((scope) => ({ name: scope.name, title: scopeTitle(scope) })) },
  );
  return { html, headers: formPageHeaders };
}

export async function renderDevice(renderer: Renderer, view: DeviceView): Promise<Page> {
  const { lang, say, scopeTitle } = wordsOf(renderer, view);
  const failed = view.state === "invalid" || view.state === "used";
  const title = say(view.state === "done" || view.state === "denied" ? `device.title-${view.state}` : "device.title");
  const frame = { name: "device", state: view.state, lang, base: view.base, title, failed };
  const html = await renderer.render("device", frame, {
    ...view,
    message: view.state === "enter" || view.state === "confirm" ? "" : say(`device.${view.state}`),
    scopes: view.scopes.map((name) => ({ name, title: scopeTitle({ name, title: null }) })),
  });
  return { html, headers: formPageHeaders };
}

export async function renderLogout(renderer: Renderer, view: LogoutView): Promise<Page> {
  const { lang, say } = wordsOf(renderer, view);
  const frame = { name: "logout", state: "default", lang, base: view.base, title: say("logout.title"), failed: false };
  return { html: await renderer.render("logout", frame, view), headers: formPageHeaders };
}

export async function renderSignedOut(renderer: Renderer, view: SignedOutView): Promise<Page> {
  const { lang, say } = wordsOf(renderer, view);
  const frame = {
    name: "signed-out",
    state: "done",
    lang,
    base: view.base,
    title: say("signed-out.title"),
    failed: false,
  };
  return { html: await renderer.render("signed-out", frame, view), headers: plainPageHeaders };
}

export async function renderFormPost(renderer: Renderer, view: FormPostView): Promise<Page> {
  const { lang, say } = wordsOf(renderer, view);
  const frame = {
    name: "form-post",
    state: "default",
    lang,
    base: view.base,
    title: say("form-post.title"),
    failed: false,
  };
  const parameters = Object.entries(view.parameters).map(([name, value]) => ({ name, value }));
  const html = await renderer.render("form-post", frame, { action: view.action, parameters });
  return { html, headers: formPostHeaders };
}

export async function renderError(renderer: Renderer, view: ErrorView): Promise<Page> {
  const { lang, say, plain } = wordsOf(renderer, view);
  const key = `error.${view.kind}`;
  const frame = { name: "error", state: view.kind, lang, base: view.base, title: say(key), failed: true };
  const html = await renderer.render("error", frame, {
    ...view,
    sentence: say(`${key}.sentence`),
    comparison: view.comparison && compare(view.comparison, plain),
  });
  return { html, headers: plainPageHeaders };
}
