import type { Request, Response } from "express";
import type { Brought } from "../../core/saml/message.ts";
import type { TakenLogout } from "../../core/saml/logout.ts";
import { redirect } from "../answer/answer.ts";
import { knownBrowser, readBrowser, setBrowserCookie } from "../input/cookies.ts";
import { clientQuery, single } from "../input/params.ts";
import { sendSignedOut } from "../oauth/logout.ts";
import { note, type Web } from "../web.ts";
import { keptLocation, noteMessage } from "./post.ts";
import { broughtBy } from "./sso.ts";

/** LogoutRequests of service providers. */

const logout = () => import("../../core/saml/logout.ts");
const keeping = () => import("../../core/saml/kept.ts");

export const getSlo = (web: Web) => async (req: Request, res: Response) => {
  const query = clientQuery(req);
  const kept = single(query, "kept");
  const isKept = kept !== undefined && single(query, "SAMLRequest") === undefined;
  const taken = isKept
    ? await check(web, res, await (await keeping()).takeKeptLogout(web.ctx, kept))
    : await take(web, req, res);
  await beginLogout(web, req, res, taken);
};

/** A message by HTTP-POST comes mostly without cookies (SameSite). One that is not signed needs them, and is kept until they come. */
export const postSlo = (web: Web) => async (req: Request, res: Response) => {
  const taken = await take(web, req, res);
  const browser = readBrowser(web, req);
  if (browser.session !== null) {
    await beginLogout(web, req, res, taken);
    return;
  }
  const { clientId } = taken.answer;
  const { keepMessage } = await keeping();
  const kept = await keepMessage(web.ctx, { kind: "saml-kept-logout", clientId, brought: broughtBy(req) }, browser);
  note(res, { client: clientId, outcome: { kind: "kept-for-cookies" } });
  redirect(res, keptLocation(web, "slo", kept));
};

async function take(web: Web, req: Request, res: Response): Promise<TakenLogout> {
  const brought = broughtBy(req);
  await noteMessage(res, "SAMLRequest", brought);
  return check(web, res, brought);
}

async function check(web: Web, res: Response, brought: Brought): Promise<TakenLogout> {
  const { takeLogout } = await logout();
  return takeLogout(web.ctx, brought, (client) => {
    note(res, { client });
  });
}

async function beginLogout(web: Web, req: Request, res: Response, taken: TakenLogout): Promise<void> {
  const { beginSamlLogout } = await logout();
  const browser = knownBrowser(web, req);
  note(res, { client: taken.answer.clientId });
  const outcome = await beginSamlLogout(web.ctx, taken, browser);
  if (outcome.kind === "signed-out") {
    await sendSignedOut(web, req, res, outcome);
    return;
  }
  if (browser.isNew) setBrowserCookie(web, res, browser.id);
  note(res, { outcome: { kind: "sign-out-page", ...(taken.remark !== null && { remarks: [taken.remark] }) } });
  redirect(res, `${web.base}/interaction/${outcome.uid}/logout`);
}
