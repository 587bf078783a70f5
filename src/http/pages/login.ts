import { requestView, viewFor } from "./reader.ts";
import { pickerLinks, pickerOf, pickerPageSize, pickerView } from "./login-picker.ts";
import type { Response } from "express";
import { devicePath } from "../../core/base/endpoints.ts";
import { addUnknownUser, restoreUser } from "../../core/records/fix-commands.ts";
import { barredState, login, showLogin, type LoginPage, type LoginResult } from "../../core/sign-in/login/login.ts";
import { takeStep } from "../oauth/authorize.ts";
import { inspectCommand, pageFix } from "./commands.ts";
import { knownBrowser, readBrowser } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/host-check.ts";
import { sendPage, writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./templates/render.ts";
import { formatDuration, formatNumber, type Text } from "./templates/texts.ts";
import { bodyParameters, queryParameters, single, type UidRequest } from "../input/params.ts";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { note, noteRefusal, type Web } from "../web.ts";

/** The login page. */

export const getLogin = (web: Web) => async (req: UidRequest, res: Response) => {
  await sendLogin(web, req, res, null, queryParameters(req));
};

export const postLogin = (web: Web) => async (req: UidRequest, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const username = single(body, "username") ?? "";
  const result = await login(web.ctx, req.params.uid, knownBrowser(web, req), {
    csrf: single(body, "csrf") ?? "",
    username,
    password: single(body, "password") ?? "",
    pick: single(body, "pick") !== undefined,
    cancel: single(body, "cancel") !== undefined,
  });
  if (result.kind === "refused") {
    note(res, { user: result.username });
    noteRefusal(res, { message: result.why, ...result.guidance });
    await sendLogin(web, req, res, { ...result, username }, {});
    return;
  }
  note(res, { user: username, outcome: { kind: "signed-in" } });
  await takeStep(web, req, res, result);
};

type Refusal = Extract<LoginResult, { kind: "refused" }> & {
  /** As it was typed. */
  readonly username: string;
};

async function sendLogin(
  web: Web,
  req: UidRequest,
  res: Response,
  refusal: Refusal | null,
  query: RawParameters,
): Promise<void> {
  const page = await showLogin(web.ctx, req.params.uid, readBrowser(web, req));
  if (refusal === null) note(res, { outcome: { kind: "login-page" } });
  if (refusal === null && page.isAutomatic && page.barred !== null) {
    const { username, status } = page.barred;
    note(res, { user: username });
    noteRefusal(res, {
      message: `login is auto:${username}, but ${username} is ${status}`,
      // Who signs in by themselves is a setting of this server.
      rule: null,
      fix: restoreUser(page.barred),
    });
  }
  const view = await loginView(web, req, res, page, refusal, query);
  const status = refusal === null ? 200 : refusal.state === "error-credentials" ? 401 : 403;
  sendPage(res, status, renderLogin(web.renderer, view));
}

/** What the login page shows. */
export type LoginView = Awaited<ReturnType<typeof loginView>>;

async function loginView(
  web: Web,
  req: UidRequest,
  res: Response,
  page: LoginPage,
  refusal: Refusal | null,
  query: RawParameters,
) {
  const path = `${web.base}/interaction/${req.params.uid}/login`;
  const { client } = page;
  // The link "Use another user", or from there a search or another page of users.
  const isSwitching = page.mayBeAnother && ["switch", "q", "page"].some((name) => Object.hasOwn(query, name));
  const reauth = isSwitching ? null : page.reauth;
  // Another user would be refused.
  const only = reauth ?? (page.mayBeAnother ? null : page.likely);
  const shown = viewFor(web, req, res, page);
  return {
    state: refusal?.state ?? (reauth !== null ? "reauth" : page.loginHint !== null ? "hint" : "default"),
    /** Where the forms are posted to. */
    action: path,
    csrf: page.csrf,
    /** The client that asked; null if the sign-in is for one of the server's own pages. */
    client: client === null ? null : { id: client.id, name: client.name(shown.lang) },
    /** Which of the server's own pages the sign-in is for, if no client asked. */
    ownPage: page.ownPage?.startsWith(devicePath) === true ? ("device" as const) : ("account" as const),
    ...(client === null ? { returnTo: null, returnsToApp: false } : returnOf(client.redirectUri)),
    /** One page of test users; null for passwords only. */
    picker:
      !page.picker || (page.passwordNeeded && !isSwitching)
        ? null
        : only !== null
          ? pickerOf(web, path, only)
          : await pickerView(web, path, query, {
              first: page.likely?.id ?? null,
              lang: shown.lang,
              hd: page.hostedDomain,
            }),
    /** The value of the user name field: the hint, or what was typed before. Never a password. */
    username: refusal?.username ?? reauth?.username ?? page.loginHint ?? "",
    /** The user who is asked to sign in again (state reauth); null for anybody. */
    onlyUser: refusal === null ? (reauth?.username ?? null) : null,
    /** Whether the request names the user, so that nobody else may sign in. */
    isFixed: !page.mayBeAnother,
    /** The page on which another user can sign in instead of `onlyUser`; null if nobody else may. */
    switchHref: reauth !== null && page.mayBeAnother ? `${path}?switch=1` : null,
    /** State reauth by `max_age`. */
    reauth: page.reauthAges,
    /** State reauth, of somebody who was picked from the list: what is asked for needs the password too. */
    passwordNeeded: page.passwordNeeded,
    /** What went wrong, and a command that fixes it; null for the sentence of the state. */
    message: messageOf(web, page, refusal),
    /** The command that opens a refused sign-in in the inspector; null: nothing was refused. */
    inspect: refusal === null ? null : inspectCommand(web, req, res),
    canCancel: client !== null,
    ...(client?.links(shown.lang) ?? { policyUri: null, tosUri: null }),
    ...requestView(page.request),
    ...shown,
    // Links from the answer to a form lead back to this page, without the error.
    keptQuery: shown.keptQuery ?? "",
  };
}

/** The sentence for a state of the login page, and the command that fixes it. */
function loginMessage(renderer: Renderer, view: LoginView): (Message & { readonly text: string }) | null {
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

/** The host of an address on the web, as pages show it. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

/**
 * Where the browser is sent back to, as pages show it. Any app may take an address of another scheme, whatever "host" it has
 * (RFC 8252 8.1): `evil://accounts.google.com/cb` leads to no site.
 */
export function returnOf(redirectUri: string): { readonly returnTo: string; readonly returnsToApp: boolean } {
  const isOnWeb = /^https?:/i.test(redirectUri);
  return { returnTo: isOnWeb ? hostOf(redirectUri) : redirectUri, returnsToApp: !isOnWeb };
}

interface Message {
  readonly text: Text;
  readonly fix: string | null;
  readonly command: string | null;
}

/** Details beyond the sentence of the state. */
function messageOf(web: Web, page: LoginPage, refusal: Refusal | null): Message | null {
  const { likely, loginHint } = page;
  // With passwords, a page that anybody can ask for must not tell who exists.
  if (refusal === null && !page.picker) return null;
  const { barred } = refusal ?? page;
  if (barred !== null) {
    const { username } = barred;
    return {
      text: { key: `login.${barredState(barred)}`, values: { username } },
      ...pageFix(web, restoreUser(barred)),
    };
  }
  if (refusal !== null) return null;
  if (loginHint === null || likely !== null) return null;
  const text = { key: "login.hint-unknown", values: { username: loginHint } };
  const fix = addUnknownUser(loginHint);
  // The sentence has what a placeholder stands for.
  return { text, ...(fix === undefined ? { fix: null, command: null } : pageFix(web, fix)) };
}
