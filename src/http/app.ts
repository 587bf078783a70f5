/*
 * http: turns a request into one call of core, and its result into one response. It never touches the store.
 *
 * app.ts lists every route. input/ reads requests, oauth/ and pages/ handle them, answer/ writes responses and is the only place where an
 * error becomes one. api/ is the control API, inspector/ the pages for the person who tests.
 */
import { getDevice, postDevice } from "./pages/device.ts";
import { getConsent, postConsent } from "./pages/consent.ts";
import express, { type Express, type RequestHandler, type Router } from "express";
import { avatarPath } from "../core/records/scopes/avatar.ts";
import { baseOf, discoveryPath, metadataPath, devicePath } from "../core/base/endpoints.ts";
import { tryItPaths } from "../core/testing/try-it/try-it.ts";
import {
  getAccount,
  accountPath,
  getRemoveApp,
  postEndSession,
  postPreferences,
  postRemoveApp,
  postSignOut,
} from "./pages/account.ts";
import { postAddPasskey, postRemovePasskey } from "./pages/account-passkeys.ts";
import { apiGuard, apiPath, apiRoutes, type ControlOptions } from "./api/api.ts";
import { getAuthorize, postAuthorize } from "./oauth/authorize.ts";
import { postDeviceAuthorization } from "./oauth/device-authorization.ts";
import { postIntrospect } from "./oauth/introspect.ts";
import { postPar } from "./oauth/par.ts";
import { postRevoke } from "./oauth/revoke.ts";
import { userinfo } from "./oauth/userinfo.ts";
import { withFaults } from "./faults.ts";
import { withNonce } from "./input/credentials.ts";
import { formBody, formOrJsonBody, jsonBody } from "./input/bodies.ts";
import { getFactor, postFactor } from "./pages/factor.ts";
import { anyOrigin, clientOrigins, operatorsOrigins } from "./input/cors.ts";
import { discovery, jwks } from "./oauth/discovery.ts";
import { leadTo } from "./answer/answer.ts";
import { errorHandler } from "./answer/errors.ts";
import { hostCheck } from "./input/host-check.ts";
import { brandLogo, brandPaths, brandStylesheet } from "./pages/brand.ts";
import { getLogin, postLogin } from "./pages/login.ts";
import { getLogout, getLogoutPage, postLogout, postLogoutPage } from "./oauth/logout.ts";
import { inspectorRoutes } from "./inspector/inspector.ts";
import { frame } from "./pages/page-writer.ts";
import { notFound } from "./not-found.ts";
import { observe, type Observers } from "./observe.ts";
import { deleteRegistration, getRegistration, postRegister, putRegistration } from "./oauth/register.ts";
import { copyScriptPath, passkeyScriptPath, stylesheetPath } from "./pages/templates/render.ts";
import { avatar, copyScriptFile, favicon, health, passkeyScriptFile, root, stylesheet } from "./root.ts";
import { enter, mount, type Route } from "./route.ts";
import { getTryItCallback, postTryIt, postTryItUserInfo } from "./pages/try-it.ts";
import { postToken } from "./oauth/token.ts";
import { githubRoutes, postGithubToken } from "./oauth/github.ts";
import { certificates, googleCertificates, postGoogleRevoke } from "./oauth/google.ts";
import { samlRoutes } from "./saml/routes.ts";
import { offersRegistration, type Web } from "./web.ts";
import { workloadDiscovery, workloadKeys, workloadPaths } from "./oauth/workloads.ts";

/** Every route of an issuer on one page. Those of the inspector and the control API are in `inspector.ts` and `api.ts`. */

/** A page for people, with forms. */
const page = { kind: "page", body: formOrJsonBody } as const;

/** An endpoint for apps, which send their credentials in the header or in the body. */
const endpoint = { kind: "api", challenge: "Basic", body: formOrJsonBody } as const;

/** A document for everybody. */
const document = { kind: "public", cors: anyOrigin } as const;

function oauthRoutes(web: Web): readonly Route[] {
  const { paths, github, google, without = [], alsoAuthorize } = web.ctx.layout;
  const cors = clientOrigins(web);
  const guard = [withNonce(web)];
  const authorize = { ...page, name: "authorize", body: formBody } as const;
  const handlers = { get: getAuthorize(web), post: postAuthorize(web) };
  const readsUser = { ...endpoint, name: "userinfo", challenge: "Bearer, DPoP", cors, guard } as const;
  return [
    ...[paths.authorize, ...(alsoAuthorize === undefined ? [] : [alsoAuthorize])].map((path) => ({
      ...{ ...authorize, ...handlers, path },
    })),
    {
      ...endpoint,
      ...{ name: "token", path: paths.token, cors, guard },
      post: github === true ? postGithubToken(web) : postToken(web),
    },
    ...(github === true
      ? githubRoutes(web, cors)
      : without.includes("userinfo")
        ? []
        : [{ ...readsUser, path: paths.userinfo, get: userinfo(web), post: userinfo(web) }]),
    { ...endpoint, name: "introspect", path: paths.introspect, post: postIntrospect(web) },
    {
      ...endpoint,
      ...{ name: "revoke", path: paths.revoke, cors },
      post: google === true ? postGoogleRevoke(web) : postRevoke(web),
    },
    { ...document, name: "jwks", path: paths.jwks, get: jwks(web) },
    ...(google === true
      ? [{ ...document, name: "jwks", path: googleCertificates, get: certificates(web) } as const]
      : []),
    { ...endpoint, name: "par", path: paths.par, cors, guard, body: formBody, post: postPar(web) },
    {
      ...endpoint,
      name: "device_authorization",
      path: paths.device_authorization,
      cors,
      body: formBody,
      post: postDeviceAuthorization(web),
    },
    ...Object.entries(web.ctx.layout.frames ?? {}).map(
      ([path, message]) => ({ kind: "public", name: "frame", path, get: frame(message) }) as const,
    ),
    { ...page, name: "logout", path: paths.logout, body: formBody, get: getLogout(web), post: postLogout(web) },
  ];
}

/** RFC 7591, and the client's own entry (RFC 7592). */
function registrationRoutes(web: Web): readonly Route[] {
  const { paths } = web.ctx.layout;
  const cors = operatorsOrigins(web);
  const register = { kind: "api", name: "register", challenge: "Bearer", cors, body: jsonBody } as const;
  return [
    { ...register, path: paths.register, post: postRegister(web) },
    {
      ...register,
      path: `${paths.register}/:clientId`,
      get: getRegistration(web),
      put: putRegistration(web),
      delete: deleteRegistration(web),
    },
  ];
}

function pageRoutes(web: Web): readonly Route[] {
  const account = { ...page, name: "account", get: leadTo(web.base + accountPath) } as const;
  const tryIt = { ...page, name: "try-it", get: leadTo(`${web.base}/`) } as const;
  return [
    { ...page, name: "login", path: "/interaction/:uid/login", get: getLogin(web), post: postLogin(web) },
    { ...page, name: "factor", path: "/interaction/:uid/factor", get: getFactor(web), post: postFactor(web) },
    { ...page, name: "consent", path: "/interaction/:uid/consent", get: getConsent(web), post: postConsent(web) },
    { ...page, name: "sign-out", path: "/interaction/:uid/logout", get: getLogoutPage(web), post: postLogoutPage(web) },
    { ...page, name: "device", path: devicePath, get: getDevice(web), post: postDevice(web) },
    { ...account, path: accountPath, get: getAccount(web) },
    { ...account, path: "/account/apps/:clientId/remove", get: getRemoveApp(web), post: postRemoveApp(web) },
    { ...account, path: "/account/preferences", post: postPreferences(web) },
    { ...account, path: "/account/passkeys", post: postAddPasskey(web) },
    { ...account, path: "/account/passkeys/remove", post: postRemovePasskey(web) },
    { ...account, path: "/account/end-session", post: postEndSession(web) },
    { ...account, path: "/account/sign-out", post: postSignOut(web) },
    { ...tryIt, path: tryItPaths.begin, post: postTryIt(web) },
    { ...tryIt, path: tryItPaths.callback, get: getTryItCallback(web) },
    { ...tryIt, path: tryItPaths.userinfo, post: postTryItUserInfo(web) },
    { ...document, name: "workload", path: workloadPaths.discovery, get: workloadDiscovery(web) },
    { ...document, name: "workload", path: workloadPaths.jwks, get: workloadKeys(web) },
    { kind: "public", name: "root", path: "/", get: root(web) },
    { kind: "public", name: "stylesheet", path: copyScriptPath, get: copyScriptFile(web) },
    { kind: "public", name: "stylesheet", path: "/favicon.ico", get: favicon },
    { kind: "public", name: "stylesheet", path: `${avatarPath}/:file`, get: avatar },
    { kind: "api", name: "health", path: "/_idp/health", get: health(web) },
    { kind: "public", name: "stylesheet", path: stylesheetPath, get: stylesheet(web) },
    { kind: "public", name: "stylesheet", path: brandPaths.stylesheet, get: brandStylesheet(web) },
    { kind: "public", name: "stylesheet", path: brandPaths.logo, get: brandLogo(web) },
    { kind: "public", name: "stylesheet", path: passkeyScriptPath, get: passkeyScriptFile(web) },
  ];
}

/** A path in which Express gives no character a meaning. */
const escaped = (path: string): string => path.replace(/[{}()[\]+?!:*\\]/g, "\\$&");

const newRouter = (): Router => express.Router({ caseSensitive: true, strict: true });

/** The metadata of an issuer: below it, and by RFC 8414 3.1 also with the well-known part before its path. */
function metadataRoutes(web: Web): readonly Route[] {
  const route = { ...document, name: "discovery", get: discovery(web) } as const;
  const path = escaped(web.base) + baseOf(web.ctx.layout.issuer);
  if (web.ctx.layout.github === true) return [{ ...route, path: metadataPath + path }];
  return [
    { ...route, path: path + discoveryPath },
    { ...route, path: path + metadataPath },
    ...(path === "" ? [] : [{ ...route, path: metadataPath + path }]),
    // RFC 8414 3.1 drops a slash at the end of the issuer before that; the Go SDK of MCP keeps it.
    ...(web.ctx.issuer.endsWith("/") ? [{ ...route, path: `${metadataPath}${path}/` }] : []),
  ];
}

/** Adds every route. Those that are not endpoints are both below the address and below a vendor's issuer. */
function addRoutes(all: Router, web: Web, control: ControlOptions): void {
  const { layout, layouts } = web.ctx;
  const base = escaped(web.base);
  const check = hostCheck(web);
  const add = (router: Router, routes: readonly Route[]): void => {
    for (const route of routes) mount(router, withFaults(web, route), check);
  };
  const others = newRouter();
  // For a path that matches no route, or cannot be decoded.
  others.use(["/api", apiPath], enter({ name: "none", kind: "api" }));
  add(others, [...pageRoutes(web), ...samlRoutes(web), ...inspectorRoutes(web), ...apiRoutes(web, control)]);
  const guard = apiGuard(web);
  others.use(apiPath, enter({ name: "api", kind: "api", challenge: "Bearer" }), check, guard, notFound(web));

  for (const each of layouts) {
    const one = each === layout ? web : { ...web, ctx: web.ctx.at(each) };
    const endpoints = newRouter();
    add(endpoints, [...oauthRoutes(one), ...(offersRegistration(one) ? registrationRoutes(one) : [])]);
    all.use(`${base}/`, endpoints);
    add(all, metadataRoutes(one));
  }
  all.use(`${base}/`, others);
  if (baseOf(layout.issuer) !== "") all.use(`${base}${layout.issuer}/`, others);
  all.use(check, notFound(web));
}

/** Every route of an issuer. They are made anew when fixtures that are applied while the server runs change the layout, or registration. */
export function issuerRoutes(web: Web, control: ControlOptions, observers: Observers): RequestHandler {
  let { layout } = web.ctx;
  let registers = offersRegistration(web);
  function routesNow(): Router {
    ({ layout } = web.ctx);
    registers = offersRegistration(web);
    const all = newRouter();
    all.use(observe(web, observers));
    // After the observer, which has waited for the changes of other processes.
    all.use((req, res, next) => {
      if (layout === web.ctx.layout && registers === offersRegistration(web)) {
        next();
        return;
      }
      routes = routesNow();
      routes(req, res, next);
    });
    addRoutes(all, web, control);
    all.use(errorHandler(web, observers.onUnexpected));
    return all;
  }
  let routes = routesNow();
  return (req, res, next) => {
    routes(req, res, next);
  };
}

/**
 * The Express app.
 * @param routesFor the routes of the issuer that a path belongs to; it is first called for the first request
 */
export function createApp(routesFor: (path: string) => RequestHandler): Express {
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.enable("case sensitive routing");
  app.enable("strict routing");
  app.use((req, res, next) => {
    routesFor(req.path)(req, res, next);
  });
  return app;
}
