import { requestView, scopeIn, viewFor } from "./reader.ts";
import { personOf } from "./views.ts";
import type { Response } from "express";
import { clientLinks, clientName } from "../../core/records/clients/clients.ts";
import { consent, showConsent, type ConsentPage, type ScopeRow } from "../../core/sign-in/consent/consent.ts";
import { OAuthError } from "../../core/base/errors.ts";
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
  note(res, { client: shown.client.client_id, user: shown.user.username, outcome: { kind: "consent-page" } });
  sendPage(res, 200, renderConsent(renderer, consentView(web, req, res, shown)));
};

/** What the consent page shows. */
export type ConsentView = ReturnType<typeof consentView>;

function consentView(web: Web, req: UidRequest, res: Response, shown: ConsentPage) {
  const { client, fresh, granted, document } = shown;
  const path = `${web.base}/interaction/${req.params.uid}`;
  const view = viewFor(web, req, res, shown);
  const row = rowIn(view.lang);
  return {
    state: fresh.length === 0 ? "again" : granted.length > 0 ? "incremental" : "default",
    action: `${path}/consent`,
    csrf: shown.csrf,
    client: { id: client.client_id, name: clientName(client)(view.lang) },
    ...returnOf(shown.redirectUri),
    /** The user allowed this app before, but not at the host that the browser returns to. */
    isNewHost: shown.isNewHost,
    /** Of a client that nobody registered: the host of its metadata, and whether this request returns to this machine. */
    document: document && { host: hostOf(document.url), loopback: document.loopback },
    user: personOf(shown.user),
    scopes: { fresh: fresh.map(row), granted: granted.map(row) },
    /** What is sent whatever is ticked, if no row of `openid` shows it. */
    always: shown.always,
    /** The login page, to sign in as somebody else. */
    switchUserAction: `${path}/login`,
    ...clientLinks(client)(view.lang),
    ...requestView(shown.request),
    ...view,
  };
}

const rowIn = (lang: string) => {
  const worded = scopeIn(lang);
  return ({ values, declined, ...scope }: ScopeRow) => ({
    ...worded(scope),
    /** What would be sent. */
    values,
    /** The user may untick any scope but openid. */
    locked: scope.name === "openid",
    /** Whether the user left it out before, so that it is not ticked. */
    declined,
  });
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
