/*
 * http/saml: the endpoints of SAML. Each handler loads core/saml when it is first called, because that has the XML code. sso.ts takes AuthnRequests and begins
 * sign-ins, slo.ts takes LogoutRequests, routes.ts has the addresses and the metadata, post.ts posts messages.
 */
import type { Request, Response } from "express";
import type { Brought } from "../../core/saml/message.ts";
import type { Taken } from "../../core/saml/request.ts";
import { redirect } from "../answer/answer.ts";
import { knownBrowser, readBrowser, setBrowserCookie } from "../input/cookies.ts";
import { bodyParameters, clientQuery, single } from "../input/params.ts";
import { takeStep } from "../oauth/authorize.ts";
import { note, type Web } from "../web.ts";
import { keptLocation, keptName, noteMessage } from "./post.ts";

const requests = () => import("../../core/saml/request.ts");
const keeping = () => import("../../core/saml/kept.ts");
const beginnings = () => import("../../core/saml/begin.ts");

/** What a request brought, each parameter once. */
export function broughtBy(req: Request): Brought {
  const isPost = req.method === "POST";
  const parameters = isPost ? bodyParameters(req) : clientQuery(req);
  // One that came twice would be checked once, and read once.
  for (const name of ["SigAlg", "Signature"]) single(parameters, name);
  return {
    binding: isPost ? "post" : "redirect",
    message: single(parameters, "SAMLRequest"),
    response: single(parameters, "SAMLResponse"),
    encoding: single(parameters, "SAMLEncoding"),
    relayState: single(parameters, "RelayState"),
    query: req.originalUrl.split("?").slice(1).join("?"),
  };
}

/** An AuthnRequest by HTTP-Redirect, or one that was kept. */
export const getSso = (web: Web) => async (req: Request, res: Response) => {
  const kept = single(clientQuery(req), keptName);
  if (kept !== undefined && single(clientQuery(req), "SAMLRequest") === undefined) {
    // The record of the POST has the remarks on this message.
    const { keptRequest } = await keeping();
    const { request } = await check(web, res, await keptRequest(web.ctx, kept));
    await begin(web, req, res, { request, remarks: [] });
    return;
  }
  await begin(web, req, res, await take(web, req, res));
};

/** An AuthnRequest by HTTP-POST. It comes from the page of a service provider, so mostly without the session cookie (SameSite): then it is kept. */
export const postSso = (web: Web) => async (req: Request, res: Response) => {
  const taken = await take(web, req, res);
  const browser = readBrowser(web, req);
  if (browser.session !== null) {
    await begin(web, req, res, taken);
    return;
  }
  const { clientId } = taken.request;
  const { keepMessage } = await keeping();
  const kept = await keepMessage(web.ctx, { kind: "saml-kept", clientId, brought: broughtBy(req) }, browser);
  note(res, { client: clientId, outcome: { kind: "kept-for-cookies", remarks: taken.remarks } });
  redirect(res, keptLocation(web, "sso", kept));
};

/** A sign-in that begins here. */
export const getStart = (web: Web) => async (req: Request, res: Response) => {
  const { startRequest } = await beginnings();
  const query = clientQuery(req);
  const sp = single(query, "sp");
  note(res, { client: sp ?? null });
  await begin(web, req, res, await startRequest(web.ctx, sp, single(query, "target")));
};

async function take(web: Web, req: Request, res: Response): Promise<Taken> {
  const brought = broughtBy(req);
  await noteMessage(res, "SAMLRequest", brought);
  return check(web, res, brought);
}

async function check(web: Web, res: Response, brought: Brought): Promise<Taken> {
  const { takeRequest } = await requests();
  return takeRequest(web.ctx, brought, (client) => {
    note(res, { client });
  });
}

async function begin(web: Web, req: Request, res: Response, taken: Taken): Promise<void> {
  const { beginSaml } = await beginnings();
  const browser = knownBrowser(web, req);
  note(res, { client: taken.request.clientId });
  const result = await beginSaml(web.ctx, taken.request, browser);
  if (browser.isNew && result.step.kind === "page") setBrowserCookie(web, res, browser.id);
  await takeStep(web, req, res, result, null, taken.remarks);
}
