import type { IRouter, RequestHandler, Response } from "express";
import { HttpError } from "./answer/error-answers.ts";

/** The endpoints by the names of discovery and the command line, the pages, and the rest. */
export type RouteName =
  | "authorize"
  | "token"
  | "userinfo"
  | "introspect"
  | "revoke"
  | "jwks"
  | "discovery"
  | "par"
  | "device_authorization"
  | "register"
  | "logout"
  | "saml_sso"
  | "saml_slo"
  | "saml_start"
  | "saml_metadata"
  | "login"
  | "factor"
  | "consent"
  | "sign-out"
  | "device"
  | "account"
  | "root"
  | "try-it"
  | "health"
  | "stylesheet"
  | "frame"
  | "workload"
  | "inspector"
  | "api"
  | "none";

/** What is known of a request by its route. */
export interface RouteRecord {
  readonly name: RouteName;
  /**
   * Who reads its errors. `page`: people, so an error is a page unless the client prefers JSON. `api`: programs, always JSON. `public`:
   * both, so an error is JSON unless a browser asks.
   */
  readonly kind: "page" | "api" | "public";
  /** The schemes that a 401 or 403 names in `WWW-Authenticate` (`challenges.ts`). */
  readonly challenge?: "Basic" | "Bearer" | "Bearer, DPoP";
}

// `never`, because a handler may name the parameters of its path.
type Handler = RequestHandler | RequestHandler<never>;

export const methods = ["get", "post", "put", "patch", "delete"] as const;

/** The handler of each method. */
export type Handlers = Readonly<Partial<Record<(typeof methods)[number], Handler>>>;

/** The handlers that say which pages may read the answers. */
export interface Cors {
  /** Runs before everything that can fail, so that error responses carry its headers too. */
  readonly first: RequestHandler;
  /** Runs once the body is read. */
  readonly second?: RequestHandler;
}

interface RouteParts extends RouteRecord, Handlers {
  /** Below the issuer. */
  readonly path: string;
  readonly cors?: Cors;
  /** Checks who may use the route, and sets headers that errors carry too; runs for every method. */
  readonly guard?: readonly RequestHandler[];
  /** Reads the body of POST, PUT and PATCH. */
  readonly body?: RequestHandler;
  /** It chooses between two endpoints, each of which has faults of its own. */
  readonly faultsInside?: true;
}

/** A page answers GET, also where it takes a form: a person opens the address of a form again after it was refused. */
export type Route = RouteParts &
  ({ readonly kind: "page"; readonly get: Handler } | { readonly kind: "api" | "public" });

/** Stores the route record in `res.locals`, for handlers and the error handler. */
export const enter =
  (route: RouteRecord): RequestHandler =>
  (_req, res, next) => {
    res.locals["route"] = route;
    next();
  };

/** The record of the route of a request. */
export const routeOf = (res: Response): RouteRecord =>
  (res.locals["route"] as RouteRecord | undefined) ?? { name: "none", kind: "public" };

/** A request of a page route turned out to come from a program. */
export function asApi(res: Response, challenge: NonNullable<RouteRecord["challenge"]>): void {
  res.locals["route"] = { ...routeOf(res), kind: "api", challenge } satisfies RouteRecord;
}

/**
 * Mounts the handlers of a route; the only place that does. Every other method is 405 with `Allow`.
 * @param check of the `Host` header
 */
export function mount(router: IRouter, route: Route, check: RequestHandler): void {
  const { cors, guard = [], body } = route;
  const entry = router.route(route.path);
  entry.all(enter(route), check, ...(cors === undefined ? [] : [cors.first]), ...guard);
  for (const method of methods) {
    const handler = route[method] as RequestHandler | undefined;
    if (handler === undefined) continue;
    const isRead = body !== undefined && method !== "get" && method !== "delete";
    entry[method](...(isRead ? [body] : []), ...(cors?.second === undefined ? [] : [cors.second]), handler);
  }
  // Express answers HEAD with the handler of GET (RFC 9110 9.3.2).
  const allowed = methods.filter((method) => route[method] !== undefined);
  const allow = allowed.flatMap((name) => (name === "get" ? ["GET", "HEAD"] : [name.toUpperCase()])).join(", ");
  entry.all((req) => {
    throw new HttpError(405, `${req.method} is not allowed here; use ${allow}`, { allow, fix: null });
  });
}
