import { requestView, scopeIn, viewFor } from "./reader.ts";
import {
  personOf,
  type AppView,
  type FieldView,
  type LoginView,
  type PersonView,
  type RequestView,
  type ScopeView,
  type View,
} from "./views.ts";
import type { Response } from "express";
import { clientLinks, clientName, type ClientLinks } from "../../core/clients/clients.ts";
import { consent, showConsent, type ScopeRow } from "../../core/consent/consent.ts";
import { OAuthError } from "../../core/errors.ts";
import { resumeSignIn } from "../../core/sign-in/next-step.ts";
import { takeStep } from "../oauth/authorize.ts";
import { knownBrowser, readBrowser } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/host-check.ts";
import { hostOf, returnOf } from "./login.ts";
import { sendPage, writerOf, type Page } from "./page-writer.ts";
import { summaryOf } from "./templates/page-content.ts";
import type { Renderer } from "./templates/render.ts";
import { bodyParameters, every, single, type UidRequest } from "../input/params.ts";
import { note, type Web } from "../web.ts";

/** The consent page. */

interface ScopeRowView extends ScopeView {
  /** The values that would be sent. */
  readonly values: readonly FieldView[];
  /** Whether it cannot be unticked. */
  readonly locked: boolean;
  /** Whether the user left it out before, so that it is not ticked. */
  readonly declined: boolean;
}

export interface ConsentView
  extends View, RequestView, ClientLinks, Pick<LoginView, "action" | "csrf" | "returnTo" | "returnsToApp"> {
  readonly state: "default" | "incremental" | "again";
  readonly client: AppView;
  /** Of a client that nobody registered: the host of its metadata, and whether this request returns to this machine. */
  readonly document: { readonly host: string; readonly loopback: boolean } | null;
  /** The user allowed this app before, but not at the host that the browser returns to. */
  readonly isNewHost: boolean;
  readonly user: PersonView;
  readonly scopes: { readonly fresh: readonly ScopeRowView[]; readonly granted: readonly ScopeRowView[] };
  /** What is sent whatever is ticked, if no row of `openid` shows it. */
  readonly always: readonly FieldView[];
  /** The login page, to sign in as somebody else. */
  readonly switchUserAction: string;
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

export const getConsent = (web: Web) => async (req: UidRequest, res: Response) => {
  const { renderer, ctx } = web;
  const shown = await showConsent(ctx, req.params.uid, readBrowser(web, req));
  if (shown === null) {
    await takeStep(web, req, res, await resumeSignIn(ctx, req.params.uid, readBrowser(web, req)));
    return;
  }
  const { client, user } = shown;
  const path = `${web.base}/interaction/${req.params.uid}`;
  note(res, { client: client.client_id, user: user.username, outcome: { kind: "consent-page" } });
  const view = viewFor(web, req, res, shown);
  const row = rowIn(view.lang);
  const page = renderConsent(renderer, {
    state: shown.fresh.length === 0 ? "again" : shown.granted.length > 0 ? "incremental" : "default",
    action: `${path}/consent`,
    csrf: shown.csrf,
    client: { id: client.client_id, name: clientName(client)(view.lang) },
    ...returnOf(shown.redirectUri),
    isNewHost: shown.isNewHost,
    document: shown.document && { host: hostOf(shown.document.url), loopback: shown.document.loopback },
    user: personOf(user),
    scopes: { fresh: shown.fresh.map(row), granted: shown.granted.map(row) },
    always: shown.always,
    switchUserAction: `${path}/login`,
    ...clientLinks(client)(view.lang),
    ...requestView(shown.request),
    ...view,
  });
  sendPage(res, 200, page);
};

const rowIn = (lang: string) => {
  const worded = scopeIn(lang);
  return (scope: ScopeRow): ScopeRowView => {
    const { name, title, titleLang } = worded(scope);
    // The user may untick any scope but openid.
    return { name, title, titleLang, values: scope.values, locked: name === "openid", declined: scope.declined };
  };
};

export const postConsent = (web: Web) => async (req: UidRequest, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const decision = single(body, "decision");
  if (decision !== "allow" && decision !== "deny") {
    throw new OAuthError("invalid_request", `decision must be "allow" or "deny"`, {
      // A form of our own page.
      rule: null,
      fix: "open the page again, and use its buttons",
    });
  }
  const result = await consent(web.ctx, req.params.uid, knownBrowser(web, req), {
    csrf: single(body, "csrf") ?? "",
    decision,
    scopes: every(body, "scope"),
  });
  await takeStep(web, req, res, result);
};
