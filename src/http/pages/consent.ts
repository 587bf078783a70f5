import type { Response } from "express";
import { clientLinks, clientName } from "../../core/clients/clients.ts";
import { consent, showConsent, type ScopeRow } from "../../core/consent/consent.ts";
import { OAuthError } from "../../core/errors.ts";
import { goOn } from "../../core/sign-in/next-step.ts";
import { takeStep } from "../oauth/authorize.ts";
import { personOf } from "./person.ts";
import { knownBrowser, readBrowser } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/form-origin.ts";
import { hostOf, returnOf } from "./login.ts";
import { renderConsent } from "./pages.ts";
import { sendPage } from "./page-writer.ts";
import { bodyParameters, every, single, type UidRequest } from "../input/params.ts";
import { requestView, scopeIn } from "./scope-words.ts";
import type { ScopeRowView } from "./views.ts";
import { viewFor } from "./reader.ts";
import { note, type Web } from "../web.ts";

/** The consent page. */

export const getConsent = (web: Web) => async (req: UidRequest, res: Response) => {
  const { renderer, ctx } = web;
  const shown = await showConsent(ctx, req.params.uid, readBrowser(web, req));
  if (shown === null) {
    await takeStep(web, req, res, await goOn(ctx, req.params.uid, readBrowser(web, req)));
    return;
  }
  const { client, user } = shown;
  const path = `${web.base}/interaction/${req.params.uid}`;
  note(res, { client: client.client_id, user: user.username, outcome: "consent page" });
  const view = viewFor(web, req, res, shown);
  const row = rowIn(view.lang);
  const page = renderConsent(renderer, {
    state: shown.fresh.length === 0 ? "again" : shown.granted.length > 0 ? "incremental" : "default",
    action: `${path}/consent`,
    csrf: shown.csrf,
    client: { id: client.client_id, name: clientName(client)(view.lang) },
    ...returnOf(shown.redirectUri),
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
