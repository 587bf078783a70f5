/*
 * http: turns a request into one call of core, and its result into one response. It never touches the store.
 *
 * app.ts lists every route. input/ reads requests, oauth/ and pages/ handle them, answer/ writes responses and is the only place where an
 * error becomes one, api/ is the control API.
 */
import express, { type Express } from "express";
import { devicePath } from "../core/device/device.ts";
import { discoveryPath, endpoints } from "../core/endpoints.ts";
import { tryItPaths } from "../core/try-it/try-it.ts";
import {
  getAccount,
  getRemoveApp,
  postEndSession,
  postPreferences,
  postRemoveApp,
  postSignOut,
} from "./pages/account.ts";
import { apiGuard, apiPath, apiRoutes, type ControlOptions } from "./api/api.ts";
import { getAuthorize, postAuthorize } from "./oauth/authorize.ts";
import { withFaults } from "./faults.ts";
import { formBody, formOrJsonBody, jsonBody } from "./input/bodies.ts";
import { getConsent, postConsent } from "./pages/consent.ts";
import { anyOrigin, registeredOrigins } from "./input/cors.ts";
import { getDevice, postDevice, postDeviceAuthorization } from "./pages/device.ts";
import { discovery, jwks } from "./oauth/discovery.ts";
import { errorHandler } from "./answer/errors.ts";
import { hostCheck } from "./input/host-check.ts";
import { postIntrospect } from "./oauth/introspect.ts";
import { getLogin, postLogin } from "./pages/login.ts";
import { getLogout, getLogoutPage, postLogout, postLogoutPage } from "./oauth/logout.ts";
import { inspectorRoutes } from "./inspector/inspector.ts";
import { notFound } from "./not-found.ts";
import { observe, type Observers } from "./observe.ts";
import { postPar } from "./oauth/par.ts";
import { deleteRegistration, getRegistration, postRegister, putRegistration } from "./oauth/register.ts";
import { stylesheetPath } from "./pages/render.ts";
import { postRevoke } from "./oauth/revoke.ts";
import { health, root, stylesheet } from "./root.ts";
import { enter, mount, type Route } from "./route.ts";
import { getTryItCallback, postTryIt, postTryItUserInfo } from "./pages/try-it.ts";
import { postToken } from "./oauth/token.ts";
import { userinfo } from "./oauth/userinfo.ts";
import type { Web } from "./web.ts";

/** Every route on one page. The control API's own are made from the table of operations (`api.ts`). */

/** RFC 8414 3. */
const metadataPath = "/.well-known/oauth-authorization-server";

/** A page for people, with forms. */
const page = { kind: "page", body: formOrJsonBody } as const;

/** An endpoint for apps, which send their credentials in the header or in the body. */
const endpoint = { kind: "api", challenge: "Basic", body: formOrJsonBody } as const;

/** A document for everybody. */
const document = { kind: "public", cors: anyOrigin } as const;

function oauthRoutes(web: Web): readonly Route[] {
  const cors = registeredOrigins(web);
  const metadata = { ...document, name: "discovery", get: discovery(web) } as const;
  return [
    {
      ...page,
      name: "authorize",
      path: endpoints.authorize,
      body: formBody,
      get: getAuthorize(web),
      post: postAuthorize(web),
    },
    { ...endpoint, name: "token", path: endpoints.token, cors, post: postToken(web) },
    {
      ...endpoint,
      name: "userinfo",
      path: endpoints.userinfo,
      challenge: "Bearer, DPoP",
      cors,
      get: userinfo(web),
      post: userinfo(web),
    },
    { ...endpoint, name: "introspect", path: endpoints.introspect, post: postIntrospect(web) },
    { ...endpoint, name: "revoke", path: endpoints.revoke, cors, post: postRevoke(web) },
    { ...document, name: "jwks", path: endpoints.jwks, get: jwks(web) },
    { ...metadata, path: discoveryPath },
    { ...metadata, path: metadataPath },
    { ...endpoint, name: "par", path: endpoints.par, cors, body: formBody, post: postPar(web) },
    {
      ...endpoint,
      name: "device_authorization",
      path: endpoints.deviceAuthorization,
      cors,
      body: formBody,
      post: postDeviceAuthorization(web),
    },
    { ...page, name: "logout", path: endpoints.logout, body: formBody, get: getLogout(web), post: postLogout(web) },
  ];
}

/** RFC 7591, and the client's own entry (RFC 7592). */
function registrationRoutes(web: Web): readonly Route[] {
  const cors = registeredOrigins(web);
  const register = { kind: "api", name: "register", challenge: "Bearer", cors, body: jsonBody } as const;
  return [
    { ...register, path: endpoints.register, post: postRegister(web) },
    {
      ...register,
      path: `${endpoints.register}/:clientId`,
      get: getRegistration(web),
      put: putRegistration(web),
      delete: deleteRegistration(web),
    },
  ];
}

function pageRoutes(web: Web): readonly Route[] {
  const account = { ...page, name: "account" } as const;
  const tryIt = { ...page, name: "try-it" } as const;
  return [
    { ...page, name: "login", path: "/interaction/:uid/login", get: getLogin(web), post: postLogin(web) },
    { ...page, name: "consent", path: "/interaction/:uid/consent", get: getConsent(web), post: postConsent(web) },
    { ...page, name: "sign-out", path: "/interaction/:uid/logout", get: getLogoutPage(web), post: postLogoutPage(web) },
    { ...page, name: "device", path: devicePath, get: getDevice(web), post: postDevice(web) },
    { ...account, path: "/account", get: getAccount(web) },
    { ...account, path: "/account/apps/:clientId/remove", get: getRemoveApp(web), post: postRemoveApp(web) },
    { ...account, path: "/account/preferences", post: postPreferences(web) },
    { ...account, path: "/account/end-session", post: postEndSession(web) },
    { ...account, path: "/account/sign-out", post: postSignOut(web) },
    { ...tryIt, path: tryItPaths.begin, post: postTryIt(web) },
    { ...tryIt, path: tryItPaths.callback, get: getTryItCallback(web) },
    { ...tryIt, path: tryItPaths.userinfo, post: postTryItUserInfo(web) },
    { kind: "public", name: "root", path: "/", get: root(web) },
    { kind: "api", name: "health", path: "/_idp/health", get: health(web) },
    { kind: "public", name: "stylesheet", path: stylesheetPath, get: stylesheet(web) },
  ];
}

/** The Express app, still without routes: the port, and with it the issuer, may not be known yet. */
export function createApp(): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  return app;
}

/** Characters that Express gives a meaning in a path. */
const escaped = (path: string): string => path.replace(/[{}()[\]+?!:*\\]/g, "\\$&");

/** Adds every route to the app, below the path of the issuer. */
export function addRoutes(app: Express, web: Web, control: ControlOptions, observers: Observers): void {
  const { onUnexpected } = observers;
  const base = escaped(web.base);
  const check = hostCheck(web);
  const nothing = notFound(web);
  const router = express.Router({ caseSensitive: true, strict: true });
  const routes = [
    ...oauthRoutes(web),
    ...(web.dynamicRegistration ? registrationRoutes(web) : []),
    ...pageRoutes(web),
    ...inspectorRoutes(web),
    ...apiRoutes(web, control),
  ];
  // For a path that matches no route, or cannot be decoded.
  router.use(["/api", "/_idp"], enter({ name: "none", kind: "api" }));
  for (const route of routes) mount(router, withFaults(web, route), check);
  const guard = apiGuard(web, control.adminToken);
  router.use(apiPath, enter({ name: "api", kind: "api", challenge: "Bearer" }), check, guard, nothing);

  app.use(observe(web, observers));
  app.use(`${base}/`, router);
  if (base !== "") {
    // RFC 8414 3.1: for an issuer with a path, the well-known part comes before that path.
    const route = { ...document, name: "discovery", path: metadataPath + base, get: discovery(web) } as const;
    mount(app, withFaults(web, route), check);
  }
  app.use(check, nothing);
  app.use(errorHandler(web, onUnexpected));
}
