import express, { type Express, type RequestHandler, type Router } from "express";
import { devicePath } from "../core/device.ts";
import { baseOf, endpoints } from "../core/endpoints.ts";
import { nearest } from "../core/nearest.ts";
import { getAccount, getRemoveApp, postEndSession, postPreferences, postRemoveApp, postSignOut } from "./account.ts";
import { redirect, sendJson } from "./answer.ts";
import { getAuthorize, postAuthorize } from "./authorize.ts";
import { formBody, formOrJsonBody, jsonBody } from "./bodies.ts";
import { getConsent, postConsent } from "./consent.ts";
import { anyOrigin, registeredOrigins } from "./cors.ts";
import { getDevice, postDevice, postDeviceAuthorization } from "./device.ts";
import { discovery, jwks } from "./discovery.ts";
import { RouteError } from "./error-answers.ts";
import { errorHandler } from "./errors.ts";
import { hostCheck } from "./host-check.ts";
import { postIntrospect } from "./introspect.ts";
import { getLogin, postLogin } from "./login.ts";
import { getLogout, getLogoutPage, postLogout, postLogoutPage } from "./logout.ts";
import { observe } from "./observe.ts";
import type { RequestEvent } from "./request-log.ts";
import { postPar } from "./par.ts";
import { createPaths, inTurn, type Paths } from "./paths.ts";
import { deleteRegistration, getRegistration, postRegister, putRegistration } from "./register.ts";
import { stylesheetPath } from "./render.ts";
import { postRevoke } from "./revoke.ts";
import { apiHeaders, stylesheetHeaders } from "./security-headers.ts";
import { postToken } from "./token.ts";
import { userinfo } from "./userinfo.ts";
import { wantsPage, type Web } from "./web.ts";
import { commandFor } from "../shell-word.ts";

/** Every route on one page. */

const discoveryPath = "/.well-known/openid-configuration";
const metadataPath = "/.well-known/oauth-authorization-server";

function issuerPaths(web: Web): Paths {
  const paths = createPaths(web.base);
  const cors = registeredOrigins(web);

  paths.add(endpoints.authorize, { get: [getAuthorize(web)], post: [...formBody, postAuthorize(web)] });
  paths.add(endpoints.token, { cors, post: [...formOrJsonBody, postToken(web)] });
  paths.add(endpoints.userinfo, { cors, get: [userinfo(web)], post: [...formOrJsonBody, userinfo(web)] });
  paths.add("/interaction/:uid/login", { get: [getLogin(web)], post: [...formOrJsonBody, postLogin(web)] });
  paths.add("/interaction/:uid/consent", { get: [getConsent(web)], post: [...formOrJsonBody, postConsent(web)] });

  paths.add(discoveryPath, publicDocument(discovery(web)));
  paths.add(metadataPath, publicDocument(discovery(web)));
  paths.add(endpoints.jwks, publicDocument(jwks(web)));

  paths.add(endpoints.revoke, { cors, post: [...formOrJsonBody, postRevoke(web)] });

  paths.add(endpoints.par, { post: [...formBody, postPar(web)] });
  paths.add(endpoints.deviceAuthorization, { post: [...formBody, postDeviceAuthorization(web)] });
  paths.add(devicePath, { get: [getDevice(web)], post: [...formOrJsonBody, postDevice(web)] });
  if (web.dynamicRegistration) {
    paths.add(endpoints.register, { post: [...jsonBody, postRegister(web)] });
    paths.add(`${endpoints.register}/:clientId`, {
      get: [getRegistration(web)],
      put: [...jsonBody, putRegistration(web)],
      delete: [deleteRegistration(web)],
    });
  }
  paths.add(endpoints.introspect, { post: [...formOrJsonBody, postIntrospect(web)] });

  paths.add(endpoints.logout, { get: [getLogout(web)], post: [...formBody, postLogout(web)] });
  paths.add("/interaction/:uid/logout", { get: [getLogoutPage(web)], post: [...formOrJsonBody, postLogoutPage(web)] });

  paths.add("/account", { get: [getAccount(web)] });
  paths.add("/account/apps/:clientId/remove", {
    get: [getRemoveApp(web)],
    post: [...formOrJsonBody, postRemoveApp(web)],
  });
  paths.add("/account/preferences", { post: [...formOrJsonBody, postPreferences(web)] });
  paths.add("/account/end-session", { post: [...formOrJsonBody, postEndSession(web)] });
  paths.add("/account/sign-out", { post: [...formOrJsonBody, postSignOut(web)] });

  paths.add("/", { get: [root(web)] });
  if (web.base !== "") paths.add("", { get: [root(web)] });
  paths.add("/_idp/health", { get: [health(web)] });
  paths.add(stylesheetPath, { get: [stylesheet(web)] });
  return paths;
}

const publicDocument = (handler: RequestHandler) => ({ cors: anyOrigin, get: [handler] });

/** RFC 8414 3.1: for an issuer with a path, the well-known part comes before that path. */
function outsideOfBase(web: Web): Paths {
  const paths = createPaths(metadataPath + web.base);
  paths.add("", publicDocument(discovery(web)));
  return paths;
}

const health =
  ({ ctx, version }: Web): RequestHandler =>
  (_req, res) => {
    sendJson(res, 200, { status: "ok", issuer: ctx.issuer, version }, apiHeaders);
  };

/** The issuer itself: a browser is shown the account page; what waits until something answers there is told where all else is. */
const root =
  (web: Web): RequestHandler =>
  (req, res) => {
    const { issuer } = web.ctx;
    const base = baseOf(issuer);
    if (wantsPage(req)) redirect(res, `${web.base}/account`);
    else sendJson(res, 200, { issuer, discovery: base + discoveryPath, account: `${base}/account` }, apiHeaders);
  };

const stylesheet =
  ({ renderer }: Web): RequestHandler =>
  (_req, res) => {
    res.set(stylesheetHeaders).send(renderer.stylesheet().css);
  };

/** The Express app, still without routes: the port, and with it the issuer, may not be known yet. */
export function createApp(): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  return app;
}

export interface Observers {
  readonly onRequest: ((event: RequestEvent) => void) | undefined;
  /** Is told of every error that nobody expected; its answer says nothing of it. */
  readonly onUnexpected: (error: unknown) => void;
}

/** Other services have the same endpoints elsewhere: the last name of a path tells which one is meant. */
function nothingAt({ base, dynamicRegistration }: Web): (path: string) => string {
  const known = [...Object.values(endpoints), devicePath, "/account"];
  const served = known.filter((path) => dynamicRegistration || path !== endpoints.register);
  const byName = new Map(served.map((path) => [lastName(path), base + path]));
  return (path) => {
    const meant = byName.get(nearest(lastName(path), byName.keys()) ?? "");
    const question = meant === undefined || meant === path ? "" : ` Did you mean ${meant}?`;
    return `there is nothing at ${path}.${question} All endpoints are listed at ${base}${discoveryPath}`;
  };
}

const lastName = (path: string): string => path.split("/").findLast((name) => name !== "") ?? "";

/**
 * Adds every route.
 * @param api makes the control API, when the first request for it comes: as many routes again, and a server is started without them
 */
export function addRoutes(app: Express, web: Web, api: () => Router, { onRequest, onUnexpected }: Observers): void {
  const watch = onRequest === undefined ? [] : [observe(onRequest, web.ctx.now)];
  const others = web.base === "" ? [] : [outsideOfBase(web).handler];
  app.use(inTurn([...watch, hostCheck(web), issuerPaths(web).handler, ...others]));
  // Signs that Express has a meaning for stand for themselves.
  const base = web.base.replace(/[{}()[\]+?!:*\\]/g, "\\$&");
  let control: Router | null = null;
  app.use(`${base}/_idp/api`, (req, res, next) => {
    control ??= api();
    control(req, res, next);
  });
  const nothing = nothingAt(web);
  const fix = commandFor("curl", baseOf(web.ctx.issuer) + discoveryPath);
  app.use((req, _res, next) => {
    next(new RouteError(404, nothing(req.path), { fix }));
  });
  app.use(errorHandler(web, onUnexpected));
}
