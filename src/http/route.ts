import type { RequestHandler, Router } from "express";
import { RouteError } from "./error-answers.ts";

// A handler that takes path parameters of its own is a handler of its path.
type Handler = RequestHandler | RequestHandler<never>;

const names = ["get", "post", "put", "patch", "delete"] as const;

/** What a path answers to, and by which handlers. */
export type Methods = Readonly<Partial<Record<(typeof names)[number], readonly Handler[]>>>;

/** Each method that a path answers to, as HTTP writes it, with its handlers: HEAD is GET without the content (RFC 9110 9.3.2). */
export function methodsOf(methods: Methods): ReadonlyMap<string, readonly RequestHandler[]> {
  const all = new Map<string, readonly RequestHandler[]>();
  for (const name of names) {
    const handlers = methods[name] as readonly RequestHandler[] | undefined;
    if (handlers === undefined) continue;
    all.set(name.toUpperCase(), handlers);
    if (name === "get") all.set("HEAD", handlers);
  }
  return all;
}

/** 405 with `Allow`, for every method that is none of these. */
export function refuseOthers(methods: Iterable<string>): RequestHandler {
  const allow = [...methods].join(", ");
  return (req, _res, next) => {
    next(new RouteError(405, `${req.method} is not allowed here; use ${allow}`, { allow }));
  };
}

/** One path of a router of Express, its methods, and 405 for all others. */
export function route(router: Router, path: string, methods: Methods): void {
  // One entry for all of its methods: a request is compared with each entry before its own.
  const entry = router.route(path);
  for (const name of names) {
    const handlers = methods[name] as RequestHandler[] | undefined;
    if (handlers !== undefined) entry[name](...handlers);
  }
  entry.all(refuseOthers(methodsOf(methods).keys()));
}
