import express, { type Express, type RequestHandler, type Router } from "express";
import { devicePath } from "../core/device/device.ts";
import { baseOf, endpoints } from "../core/endpoints.ts";
import { nearest } from "../core/nearest.ts";
import {
  getAccount,
  getRemoveApp,
  postEndSession,
  postPreferences,
  postRemoveApp,
  postSignOut,
} from "./pages/account.ts";
import { redirect, sendJson } from "./answer/answer.ts";
import { getAuthorize, postAuthorize } from "./oauth/authorize.ts";
import { formBody, formOrJsonBody, jsonBody } from "./input/bodies.ts";
import { getConsent, postConsent } from "./pages/consent.ts";
import { anyOrigin, registeredOrigins } from "./input/cors.ts";
import { getDevice, postDevice, postDeviceAuthorization } from "./pages/device.ts";
import { discovery, jwks } from "./oauth/discovery.ts";
import { HttpError } from "./answer/http-error.ts";
import { errorHandler } from "./answer/errors.ts";
import { hostCheck } from "./input/host-check.ts";
import { postIntrospect } from "./oauth/introspect.ts";
import { getLogin, postLogin } from "./pages/login.ts";
import { getLogout, getLogoutPage, postLogout, postLogoutPage } from "./oauth/logout.ts";
import { observe } from "./observe.ts";
import type { RequestEvent } from "./request-log.ts";
import { postPar } from "./oauth/par.ts";
import { route } from "./route.ts";
import { deleteRegistration, getRegistration, postRegister, putRegistration } from "./oauth/register.ts";
import { stylesheetPath } from "./pages/render.ts";
import { postRevoke } from "./oauth/revoke.ts";
import { apiHeaders, stylesheetHeaders } from "./answer/security-headers.ts";
import { postToken } from "./oauth/token.ts";
import { userinfo } from "./oauth/userinfo.ts";
import { wantsPage, type Web } from "./web.ts";

/** Every route on one page. */

const discoveryPath = "/.well-known/openid-configuration";
const metadataPath = "/.well-known/oauth-authorization-server";

/** Paths are compared exactly. */
const newRouter = (): Router => express.Router({ caseSensitive: true, strict: true });

/** The paths below the issuer. */
function issuerRoutes(web: Web): Router {
  const router = newRouter();
  const cors = [registeredOrigins(web)];

  route(router, endpoints.authorize, { get: [getAuthorize(web)], post: [...formBody, postAuthorize(web)] });
  route(router, endpoints.token, { post: [...formOrJsonBody, postToken(web)] }, cors);
  route(router, endpoints.userinfo, { get: [userinfo(web)], post: [...formOrJsonBody, userinfo(web)] }, cors);
  route(router, "/interaction/:uid/login", { get: [getLogin(web)], post: [...formOrJsonBody, postLogin(web)] });
  route(router, "/interaction/:uid/consent", { get: [getConsent(web)], post: [...formOrJsonBody, postConsent(web)] });

  route(router, discoveryPath, { get: [discovery(web)] }, [anyOrigin]);
  route(router, metadataPath, { get: [discovery(web)] }, [anyOrigin]);
  route(router, endpoints.jwks, { get: [jwks(web)] }, [anyOrigin]);

  route(router, endpoints.revoke, { post: [...formOrJsonBody, postRevoke(web)] }, cors);

  route(router, endpoints.par, { post: [...formBody, postPar(web)] });
  route(router, endpoints.deviceAuthorization, { post: [...formBody, postDeviceAuthorization(web)] });
  route(router, devicePath, { get: [getDevice(web)], post: [...formOrJsonBody, postDevice(web)] });
  if (web.dynamicRegistration) {
    route(router, endpoints.register, { post: [...jsonBody, postRegister(web)] });
    route(router, `${endpoints.register}/:clientId`, {
      get: [getRegistration(web)],
      put: [...jsonBody, putRegistration(web)],
      delete: [deleteRegistration(web)],
    });
  }
  route(router, endpoints.introspect, { post: [...formOrJsonBody, postIntrospect(web)] });

  route(router, endpoints.logout, { get: [getLogout(web)], post: [...formBody, postLogout(web)] });
  route(router, "/interaction/:uid/logout", {
    get: [getLogoutPage(web)],
    post: [...formOrJsonBody, postLogoutPage(web)],
  });

  route(router, "/account", { get: [getAccount(web)] });
  route(router, "/account/apps/:clientId/remove", {
    get: [getRemoveApp(web)],
    post: [...formOrJsonBody, postRemoveApp(web)],
  });
  route(router, "/account/preferences", { post: [...formOrJsonBody, postPreferences(web)] });
  route(router, "/account/end-session", { post: [...formOrJsonBody, postEndSession(web)] });
  route(router, "/account/sign-out", { post: [...formOrJsonBody, postSignOut(web)] });

  route(router, "/", { get: [root(web)] });
  route(router, "/_idp/health", { get: [health(web)] });
  route(router, stylesheetPath, { get: [stylesheet(web)] });
  return router;
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

/** Characters that Express gives a meaning in a path. */
const escaped = (path: string): string => path.replace(/[{}()[\]+?!:*\\]/g, "\\$&");

/**
 * Adds every route.
 * @param api the control API
 */
export function addRoutes(app: Express, web: Web, api: Router, { onRequest, onUnexpected }: Observers): void {
  const base = escaped(web.base);
  if (onRequest !== undefined) app.use(observe(onRequest, web.ctx.now));
  app.use(hostCheck(web));
  app.use(`${base}/`, issuerRoutes(web));
  // RFC 8414 3.1: for an issuer with a path, the well-known part comes before that path.
  if (base !== "") route(app, metadataPath + base, { get: [discovery(web)] }, [anyOrigin]);
  app.use(`${base}/_idp/api`, api);
  const nothing = nothingAt(web);
  const fix = { text: "", command: ["curl", baseOf(web.ctx.issuer) + discoveryPath] };
  app.use((req) => {
    throw new HttpError(404, nothing(req.path), { fix });
  });
  app.use(errorHandler(web, onUnexpected));
}
