import type { RequestHandler, Router } from "express";
import { HttpError } from "./answer/http-error.ts";

// A handler may name the parameters of its path.
type Handler = RequestHandler | RequestHandler<never>;

const names = ["get", "post", "put", "patch", "delete"] as const;

/** The methods of a path, each with its handlers. */
export type Methods = Readonly<Partial<Record<(typeof names)[number], readonly Handler[]>>>;

/**
 * Adds a path with its methods to a router. Every other method is 405 with `Allow`.
 * @param first runs before everything that can fail, so that error responses carry its headers too (CORS)
 */
export function route(router: Router, path: string, methods: Methods, first: readonly RequestHandler[] = []): void {
  const entry = router.route(path);
  if (first.length > 0) entry.all(...first);
  for (const name of names) {
    const handlers = methods[name] as RequestHandler[] | undefined;
    if (handlers !== undefined) entry[name](...handlers);
  }
  // Express answers HEAD by the handlers of GET (RFC 9110 9.3.2).
  const allowed = names.filter((name) => methods[name] !== undefined);
  const allow = allowed.flatMap((name) => (name === "get" ? ["GET", "HEAD"] : [name.toUpperCase()])).join(", ");
  entry.all((req) => {
    throw new HttpError(405, `${req.method} is not allowed here; use ${allow}`, { allow });
  });
}
