import { viewFor } from "../pages/reader.ts";
import type { Request, Response } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { authenticateClient } from "../../core/records/clients/authentication.ts";
import { logoutByRefreshToken } from "../../core/protocol/logout/refresh-token.ts";
import { clientCredentials } from "../input/credentials.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import {
  answerLogout,
  beginLogout,
  logoutParameters,
  showLogout,
  type SignedOut,
} from "../../core/protocol/logout/logout.ts";
import { redirect } from "../answer/answer.ts";
import { noteRegistered, noteUnchecked } from "../answer/cleaned.ts";
import { asGet, tooLongForGet } from "./authorize.ts";
import { clearSessionCookie, knownBrowser, readBrowser, setBrowserCookie } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/host-check.ts";
import { renderLogout, renderSignedOut } from "../pages/pages.ts";
import { sendPage } from "../pages/page-writer.ts";
import { bodyParameters, clientQuery, every, single, type UidRequest } from "../input/params.ts";
import { asApi } from "../route.ts";
import { answerLogoutRequest } from "../saml/post.ts";
import { note, noteRefusal, type Web } from "../web.ts";

/** OpenID Connect RP-Initiated Logout 1.0: the endpoint, and the page that asks the user. */

export const getLogout = (web: Web) => (req: Request, res: Response) => logout(web, req, res, clientQuery(req));

/**
 * A POST from the client's page comes without the session cookie (SameSite), as at the authorization endpoint. One from the client's server
 * has no cookie either, but no `Origin`, which browsers send with every POST.
 */
export const postLogout = (web: Web) => async (req: Request, res: Response) => {
  const parameters = bodyParameters(req);
  const isOfServer = web.ctx.layout.realm === true && every(parameters, "refresh_token").join("") !== "";
  if (isOfServer) {
    // A program reads the answer, whatever it accepts.
    asApi(res, "Basic");
    const refreshToken = single(parameters, "refresh_token") ?? "";
    const client = await authenticateClient(web.ctx, clientCredentials(web, req, parameters));
    note(res, { client: client.client_id });
    await logoutByRefreshToken(web.ctx, client, refreshToken);
    note(res, { outcome: { kind: "signed-out-by-token" } });
    res.status(204).set(privateApiHeaders).end();
    return;
  }
  const isServers = req.headers.origin === undefined && every(parameters, "id_token_hint").join("") !== "";
  if (isServers || readBrowser(web, req).session !== null) {
    await logout(web, req, res, parameters);
    return;
  }
  const { paths, returnParameter = "post_logout_redirect_uri" } = web.ctx.layout;
  const location = asGet(web, paths.logout, parameters, [...logoutParameters, returnParameter]);
  if (location === null) throw tooLongForGet("shorten it");
  await noteUnchecked(web, req, res);
  redirect(res, location);
};

/** The URI to return to. Some vendors use another name for the parameter. */
function returnUri({ ctx }: Web, parameters: RawParameters): string | undefined {
  const { returnParameter } = ctx.layout;
  const uri = single(parameters, "post_logout_redirect_uri");
  return uri ?? (returnParameter === undefined ? undefined : single(parameters, returnParameter));
}

async function logout(web: Web, req: Request, res: Response, parameters: RawParameters): Promise<void> {
  const browser = knownBrowser(web, req);
  const clientId = single(parameters, "client_id");
  note(res, { client: clientId ?? null });
  const outcome = await beginLogout(
    web.ctx,
    {
      idTokenHint: single(parameters, "id_token_hint"),
      clientId,
      postLogoutRedirectUri: returnUri(web, parameters),
      state: single(parameters, "state"),
      uiLocales: single(parameters, "ui_locales"),
    },
    browser,
  );
  if (outcome.kind === "signed-out") {
    await sendSignedOut(web, req, res, outcome);
    return;
  }
  if (browser.isNew) setBrowserCookie(web, res, browser.id);
  note(res, { outcome: { kind: "sign-out-page" } });
  redirect(res, `${web.base}/interaction/${outcome.uid}/logout`);
}

export const getLogoutPage = (web: Web) => async (req: UidRequest, res: Response) => {
  const page = await showLogout(web.ctx, req.params.uid, readBrowser(web, req));
  const shown = viewFor(web, req, res, page);
  const view = {
    ...shown,
    action: `${web.base}/interaction/${req.params.uid}/logout`,
    ...page,
    client: page.client && { ...page.client, name: page.client.name(shown.lang) },
    others: page.others.map((name) => name(shown.lang)),
  };
  sendPage(res, 200, renderLogout(web.renderer, view));
};

export const postLogoutPage = (web: Web) => async (req: UidRequest, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const confirmed = single(body, "decision") === "sign-out";
  const browser = readBrowser(web, req);
  const outcome = await answerLogout(web.ctx, req.params.uid, browser, { csrf: single(body, "csrf") ?? "", confirmed });
  if (outcome === null) {
    note(res, { outcome: { kind: "stays-signed-in" } });
    redirect(res, `${web.base}/account`);
    return;
  }
  await sendSignedOut(web, req, res, outcome);
};

/** The page after a sign-out, or the way back to the app. */
export async function sendSignedOut(web: Web, req: Request, res: Response, outcome: SignedOut): Promise<void> {
  if (outcome.stillSignedIn !== true) clearSessionCookie(web, res);
  const failed = outcome.notices.filter(({ ok }) => !ok).map(({ client, detail }) => `${client}: ${detail}`);
  note(res, { outcome: { kind: "signed-out" } });
  if (failed.length > 0) {
    noteRefusal(res, {
      message: `back-channel logout failed: ${failed.join("; ")}`,
      rule: "OpenID Connect Back-Channel Logout 2.8",
      fix: { text: "To see what was sent", command: ["idp", "requests", "list", "--endpoint", "backchannel_logout"] },
    });
  }
  const { reply } = outcome;
  if (reply !== undefined && (await answerLogoutRequest(web, req, res, { ...outcome, reply }))) return;
  if (outcome.location !== null) {
    redirect(res, outcome.location);
    return;
  }
  // The links to another language keep what is registered of the request.
  await noteRegistered(web, req, res);
  const shown = viewFor(web, req, res, outcome);
  const page = renderSignedOut(web.renderer, {
    ...shown,
    state: outcome.ended ? "done" : "already",
    back: outcome.back && { ...outcome.back, name: outcome.back.name(shown.lang) },
    stays: outcome.stays,
    others: outcome.others.map((name) => name(shown.lang)),
    signInHref: `${web.base}/account`,
  });
  sendPage(res, 200, page);
}
