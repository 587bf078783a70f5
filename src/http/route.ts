import type { RequestHandler, Router } from "express";
import { RouteError } from "./error-answers.ts";

// A handler that takes path parameters of its own is a handler of its path.
type Handler = RequestHandler | RequestHandler<never>;

const names = ["get", "post", "put", "patch", "delete"] as const;

/** What a path answers to, and by which handlers. */
export type Methods = Readonly<Partial<Record<(typeof names)[number], readonly Handler[]>>>;

interface Route extends Methods {
  /** Before everything that can fail, so that error answers carry its headers too. */
  readonly cors?: RequestHandler;
}

/** One path, its methods, and 405 with `Allow` for all others. */
export function route(router: Router, path: string, { cors, ...methods }: Route): void {
  // One entry for all of its methods: a request is compared with each entry before its own.
  const entry = router.route(path);
  if (cors !== undefined) entry.all(cors);
  const allowed: string[] = [];
  for (const name of names) {
    const handlers = methods[name];
    if (handlers === undefined) continue;
    entry[name](...(handlers as RequestHandler[]));
    allowed.push(...(name === "get" ? ["GET", "HEAD"] : [name.toUpperCase()]));
  }
  const allow = allowed.join(", ");
  entry.all((req, _res, next) => {
    next(new RouteError(405, `${req.method} is not allowed here; use ${allow}`, { allow }));
  });
}
