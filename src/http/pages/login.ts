import { requestView, viewFor } from "./reader.ts";
import { personOf, pickerPageSize, type LoginView, type PickerView } from "./views.ts";
import type { Response } from "express";
import type { User } from "../../store/store.ts";
import { devicePath } from "../../core/endpoints.ts";
import { addUnknownUser, restoreUser } from "../../core/fix-commands.ts";
import { barredState, login, showLogin, type LoginPage, type LoginResult } from "../../core/login/login.ts";
import { fold, lookedThrough, pageOfUsers, userStatuses } from "../../core/login/picker.ts";
import { takeStep } from "../oauth/authorize.ts";
import { inspectCommand, pageCommand, pageFix } from "./commands.ts";
import { knownBrowser, readBrowser } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/host-check.ts";
import { renderLogin } from "./pages.ts";
import { sendPage } from "./page-writer.ts";
import { bodyParameters, queryParameters, single, type UidRequest } from "../input/params.ts";
import type { RawParameters } from "../../core/authorize/parameters.ts";
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
  const { ctx, base } = web;
  const page = await showLogin(ctx, req.params.uid, readBrowser(web, req));
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
  const path = `${base}/interaction/${req.params.uid}/login`;
  const { client } = page;
  // The link "Use another user", or from there a search or another page of users.
  const isSwitching = page.mayBeAnother && ["switch", "q", "page"].some((name) => Object.hasOwn(query, name));
  const reauth = isSwitching ? null : page.reauth;
  // Another user would be refused.
  const only = reauth ?? (page.mayBeAnother ? null : page.likely);
  const shown = viewFor(web, req, res, page);
  const view: LoginView = {
    state: refusal?.state ?? (reauth !== null ? "reauth" : page.loginHint !== null ? "hint" : "default"),
    action: path,
    csrf: page.csrf,
    client: client === null ? null : { id: client.id, name: client.name(shown.lang) },
    ownPage: page.ownPage?.startsWith(devicePath) === true ? "device" : "account",
    ...(client === null ? { returnTo: null, returnsToApp: false } : returnOf(client.redirectUri)),
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
    username: refusal?.username ?? reauth?.username ?? page.loginHint ?? "",
    onlyUser: refusal === null ? (reauth?.username ?? null) : null,
    isFixed: !page.mayBeAnother,
    switchHref: reauth !== null && page.mayBeAnother ? `${path}?switch=1` : null,
    reauth: page.reauthAges,
    passwordNeeded: page.passwordNeeded,
    message: messageOf(web, page, refusal),
    inspect: refusal === null ? null : inspectCommand(web, req, res),
    canCancel: client !== null,
    ...(client?.links(shown.lang) ?? { policyUri: null, tosUri: null }),
    ...requestView(page.request),
    ...shown,
    // Links from the answer to a form lead back to this page, without the error.
    keptQuery: shown.keptQuery ?? "",
  };
  const status = refusal === null ? 200 : refusal.state === "error-credentials" ? 401 : 403;
  sendPage(res, status, renderLogin(web.renderer, view));
}

/** The host of an address on the web, as pages show it. */
export const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url);

/**
 * Where the browser is sent back to, as pages show it. Any app may take an address of another scheme, whatever "host" it has
 * (RFC 8252 8.1): `evil://accounts.google.com/cb` leads to no site.
 */
export function returnOf(redirectUri: string): Pick<LoginView, "returnsToApp"> & { readonly returnTo: string } {
  const isOnWeb = /^https?:/i.test(redirectUri);
  return { returnTo: isOnWeb ? hostOf(redirectUri) : redirectUri, returnsToApp: !isOnWeb };
}

/** The status that a search names, in English or in the language of the page; null: it names none. */
export function statusNamed({ renderer: { texts } }: Web, lang: string, query: string): User["status"] | null {
  const typed = fold(query.trim());
  const wordsFor = (status: string): string => texts.plain(lang, { key: `status.${status}`, values: {} });
  return userStatuses.find((status) => [status, fold(wordsFor(status))].includes(typed)) ?? null;
}

/** @param reader `first`: the user shown before all others; `hd`: whose users are shown, null for all */
async function pickerView(
  web: Web,
  href: string,
  parameters: RawParameters,
  { first, lang, hd }: { readonly first: string | null; readonly lang: string; readonly hd: string | null },
): Promise<PickerView> {
  const query = single(parameters, "q") ?? "";
  const asked = Number(single(parameters, "page") ?? "1");
  const page = Number.isInteger(asked) && asked > 0 && asked < 100_000 ? asked : 1;
  const found = await pageOfUsers(web.ctx, {
    ...{ query, page, size: pickerPageSize, first },
    status: statusNamed(web, lang, query),
    ...(hd !== null && { filter: { status: "", role: "", group: "", hd } }),
  });
  const { users, total, pages, everybody } = found;
  const beyond = everybody > lookedThrough ? { looked: lookedThrough, everybody } : null;
  return { href, query, users: users.map(personOf), total, page: found.page, pages, beyond, addCommand: addUser(web) };
}

export const addUser = (web: Web): string => pageCommand(web, ["idp", "users", "add", "alice"]).command;

/** The user who is asked to sign in again. */
const pickerOf = (web: Web, href: string, user: User): PickerView => ({
  href,
  users: [personOf(user)],
  total: 1,
  query: "",
  page: 1,
  pages: 1,
  beyond: null,
  addCommand: addUser(web),
});

/** Details beyond the sentence of the state. */
function messageOf(web: Web, page: LoginPage, refusal: Refusal | null): LoginView["message"] {
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
