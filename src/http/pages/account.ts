import { scopeIn, viewFor } from "./reader.ts";
import { personOf, themes } from "./views.ts";
import type { Request, Response } from "express";
import {
  removeApp,
  savePreferences,
  showAccount,
  signOut,
  type AccountPage,
  type ConnectedApp,
} from "../../core/sign-in/account/account.ts";
import { clientNameOf } from "../../core/records/clients/clients.ts";
import { showOwnFactors } from "../../core/sign-in/factors/passkeys.ts";
import { beginSignIn } from "../../core/protocol/authorize/authorize.ts";
import type { Needs } from "../../core/sign-in/purpose.ts";
import { OAuthError } from "../../core/base/errors.ts";
import { redirect } from "../answer/answer.ts";
import { noteUnchecked } from "../answer/cleaned.ts";
import { takeStep } from "../oauth/authorize.ts";
import { clearSessionCookie, knownBrowser, readBrowser, setBrowserCookie, setPreference } from "../input/cookies.ts";
import { passkeysElsewhere, requireOwnOrigin } from "../input/host-check.ts";
import { renderSignedOut } from "./pages.ts";
import { sendPage, writerOf, type Page } from "./page-writer.ts";
import { passkeyScript, type Renderer } from "./templates/render.ts";
import { formatDuration, formatMoment, formatTime, nameOfLanguage, timeZoneHere } from "./templates/texts.ts";
import { formPageHeaders, passkeyPageHeaders } from "../answer/security-headers.ts";
import { bodyParameters, queryParameters, single } from "../input/params.ts";
import { note, type Web } from "../web.ts";

/** The pages of the account: connected apps, removing their access, other sessions. */

type AppRequest = Request<{ clientId: string }>;

export const accountPath = "/account";
/** How many sessions, and how many of the apps that were allowed last, are shown; the others are only counted. */
const shownSessions = 8;
const shownApps = 100;

const removePath = (web: Web, clientId: string): string =>
  `${web.base}${accountPath}/apps/${encodeURIComponent(clientId)}/remove`;

/** Sends a user who has not proved enough to the pages that ask for it, and from there back to `path`. */
export async function signInFirst(
  web: Web,
  req: Request,
  res: Response,
  path: string,
  acr: Needs["acr"] = [],
): Promise<void> {
  const browser = knownBrowser(web, req);
  if (browser.isNew) setBrowserCookie(web, res, browser.id);
  await takeStep(web, req, res, await beginSignIn(web.ctx, path, acr, browser));
}

export const getAccount = (web: Web) => async (req: Request, res: Response) => {
  const account = await showAccount(web.ctx, readBrowser(web, req));
  if (account === null) {
    await signInFirst(web, req, res, accountPath);
    return;
  }
  sendPage(res, 200, renderAccount(web.renderer, await accountView(web, req, res, account)));
};

/** What the account page shows. */
export type AccountView = Awaited<ReturnType<typeof accountView>>;

async function accountView(web: Web, req: Request, res: Response, account: AccountPage) {
  const { base } = web;
  const { user } = account;
  const factors = await showOwnFactors(web.ctx, readBrowser(web, req));
  const shown = viewFor(web, req, res);
  const elsewhere = passkeysElsewhere(web, req);
  note(res, { user: user.username, outcome: { kind: "account-page" } });
  return {
    ...shown,
    csrf: account.csrf,
    user: personOf(user),
    fields: account.values,
    apps: account.apps.slice(-shownApps).map((app) => ({
      client: { id: app.clientId, name: app.name(shown.lang) },
      scopes: app.scopes.map(scopeIn(shown.lang)),
      since: app.grant.createdAt,
      /** Null: it never got a token. */
      lastUsed: app.lastUsed,
      /** The page that asks whether to remove it. */
      revokeHref: removePath(web, app.clientId),
    })),
    moreApps: Math.max(0, account.apps.length - shownApps),
    sessions: account.sessions.slice(0, shownSessions),
    moreSessions: Math.max(0, account.sessions.length - shownSessions),
    languages: [...new Set([...web.renderer.texts.languages, user.language])],
    // What the page is in, so that saving one choice does not change the other.
    language: shown.lang,
    chosenTheme: shown.theme,
    outcome: await outcomeOf(web, req, account.apps, shown.lang),
    factors: factors?.factors ?? [],
    passkeys: factors?.passkeys.map(({ id, createdAt }) => ({ id, since: createdAt })) ?? [],
    /** What the script asks the authenticator for, as JSON; null: the user has to prove a factor first, or passkeys do not work here. */
    passkeyOptions: factors?.options == null || elsewhere !== null ? null : JSON.stringify(factors.options),
    passkeysWork: factors?.insecure === false,
    passkeysElsewhere: elsewhere,
    addPasskeyAction: `${base}${accountPath}/passkeys`,
    removePasskeyAction: `${base}${accountPath}/passkeys/remove`,
    preferencesAction: `${base}${accountPath}/preferences`,
    signOutAction: `${base}${accountPath}/sign-out`,
    /** Ends one other session. */
    endSessionAction: `${base}${accountPath}/end-session`,
  };
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

type Outcome =
  | { readonly kind: "removed" | "gone"; readonly app: string }
  | { readonly kind: "saved" | "ended" | "passkey-added" | "passkey-removed" | "passkey-refused" };

/** What was just done: an app was removed, or had been removed before; a choice was saved; a session was ended. The address only names the client, so that nobody can put other words on the page. */
async function outcomeOf(web: Web, req: Request, apps: readonly ConnectedApp[], lang: string): Promise<Outcome | null> {
  const query = queryParameters(req);
  const done = (["saved", "ended", "passkey-added", "passkey-removed", "passkey-refused"] as const).find(
    (name) => single(query, name) !== undefined,
  );
  if (done !== undefined) return { kind: done };
  const kind = (["removed", "gone"] as const).find((name) => single(query, name) !== undefined);
  // The address may be opened again when the app is connected again.
  if (kind === undefined || apps.some(({ clientId }) => clientId === single(query, kind))) return null;
  const name = await clientNameOf(web.ctx, single(query, kind) ?? "");
  return name === null ? null : { kind, app: name(lang) };
}

/** Says that an app has no access. Only the name of an app is repeated in an address. */
async function leadToGone(web: Web, req: Request, res: Response, clientId: string): Promise<void> {
  await noteUnchecked(web, req, res);
  const isApp = (await clientNameOf(web.ctx, clientId)) !== null;
  redirect(res, web.base + accountPath + (isApp ? `?gone=${encodeURIComponent(clientId)}` : ""));
}

export const getRemoveApp = (web: Web) => async (req: AppRequest, res: Response) => {
  const { clientId } = req.params;
  const account = await showAccount(web.ctx, readBrowser(web, req));
  if (account === null) {
    await noteUnchecked(web, req, res);
    await signInFirst(web, req, res, accountPath);
    return;
  }
  const app = account.apps.find((one) => one.clientId === clientId);
  if (app === undefined) {
    await leadToGone(web, req, res, clientId);
    return;
  }
  sendPage(res, 200, renderAccountRevoke(web.renderer, revokeView(web, req, res, account.csrf, app)));
};

/** Asks before an app is removed. */
export type AccountRevokeView = ReturnType<typeof revokeView>;

function revokeView(web: Web, req: Request, res: Response, csrf: string, app: ConnectedApp) {
  const view = viewFor(web, req, res);
  return {
    ...view,
    csrf,
    action: removePath(web, app.clientId),
    cancelHref: web.base + accountPath,
    client: { id: app.clientId, name: app.name(view.lang) },
    scopes: app.scopes.map(scopeIn(view.lang)),
    /** Seconds for which an API that verifies tokens itself may still accept one; null if no API can. */
    outlivedBy: web.ctx.settings.access_token_alg === "HS256" ? null : web.ctx.settings.access_token_ttl,
  };
}

export function renderAccountRevoke(renderer: Renderer, view: AccountRevokeView): Page {
  const { page, lang, plain, titled } = writerOf(renderer, view);
  const title = plain({ key: "revoke.title", values: { client: view.client.name } });
  const scopes = view.scopes.map(titled);
  const outlived = view.outlivedBy === null ? null : formatDuration(view.outlivedBy, lang);
  return page("account-revoke", { name: "account", state: "revoke", title }, { ...view, scopes, outlived });
}

export const postRemoveApp = (web: Web) => async (req: AppRequest, res: Response) => {
  requireOwnOrigin(web, req);
  const { clientId } = req.params;
  const csrf = single(bodyParameters(req), "csrf") ?? "";
  const result = await removeApp(web.ctx, readBrowser(web, req), { csrf, clientId });
  if (result === null) {
    await noteUnchecked(web, req, res);
    await signInFirst(web, req, res, accountPath);
    return;
  }
  note(res, {
    client: clientId,
    user: result.username,
    outcome: { kind: result.removed ? "access-removed" : "had-no-access" },
  });
  if (result.removed) redirect(res, `${web.base}${accountPath}?removed=${encodeURIComponent(clientId)}`);
  else await leadToGone(web, req, res, clientId);
};

export const postPreferences = (web: Web) => async (req: Request, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const language = single(body, "language") ?? "";
  const theme = themes.find((name) => name === single(body, "theme"));
  if (!/^[a-z]{2}$/.test(language) || theme === undefined) {
    throw new OAuthError(
      "invalid_request",
      `language must be a code such as "en", and theme one of ${themes.join(", ")}`,
      // A form of our own page.
      { rule: null, fix: "open the page again, and use its form" },
    );
  }
  const csrf = single(body, "csrf") ?? "";
  if (!(await savePreferences(web.ctx, readBrowser(web, req), { csrf, language, theme }))) {
    await signInFirst(web, req, res, accountPath);
    return;
  }
  // This choice replaces an earlier one in this browser.
  setPreference(web, res, "language", language);
  setPreference(web, res, "theme", theme);
  note(res, { outcome: { kind: "preferences-kept" } });
  redirect(res, `${web.base}${accountPath}?saved=1`);
};

export const postSignOut = (web: Web) => async (req: Request, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const everywhere = single(body, "everywhere") !== undefined;
  const which = everywhere ? "all" : "this";
  const ended = await signOut(web.ctx, readBrowser(web, req), { csrf: single(body, "csrf") ?? "", which });
  clearSessionCookie(web, res);
  note(res, {
    outcome: everywhere
      ? { kind: "signed-out-everywhere", values: { sessions: String(ended ?? 0) } }
      : { kind: "signed-out" },
  });
  const page = renderSignedOut(web.renderer, {
    ...viewFor(web, req, res),
    state: ended === null ? "already" : everywhere ? "all-sessions" : "done",
    back: null,
    stays: null,
    signInHref: web.base + accountPath,
  });
  sendPage(res, 200, page);
};

export const postEndSession = (web: Web) => async (req: Request, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const [csrf, sid] = [single(body, "csrf") ?? "", single(body, "sid") ?? ""];
  if ((await signOut(web.ctx, readBrowser(web, req), { csrf, which: { sid } })) === null) {
    await signInFirst(web, req, res, accountPath);
    return;
  }
  note(res, { outcome: { kind: "session-ended" } });
  // A session that had already ended counts as ended too.
  redirect(res, `${web.base}${accountPath}?ended=1`);
};
