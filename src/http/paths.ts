import type { RequestHandler } from "express";
import { BodyError } from "./bodies.ts";
import { methodsOf, refuseOthers, type Methods } from "./route.ts";

/**
 * The paths of the issuer, looked up. Express compares a request with one route after the other, and takes it through two layers of its own
 * for each that fits: more work than many of the handlers do (docs/decisions/paths-are-looked-up.md).
 */

interface Route extends Methods {
  /** Before everything that can fail, so that error answers carry its headers too. */
  readonly cors?: RequestHandler;
}

export interface Paths {
  /**
   * One path, its methods, and 405 with `Allow` for all others.
   * @param path below the base, to the letter but for one segment at most: `:name` stands for any, decoded in `req.params.name`
   */
  add(path: string, route: Route): void;
  /** Answers what is asked of these paths, and hands on all else. */
  readonly handler: RequestHandler;
}

/** Hands a request from one handler to the next, as Express does: an error ends it, be it handed on, thrown, or of a promise. */
export function inTurn(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, done) => {
    let at = 0;
    const fail = (error: unknown): void => done(error ?? new Error("a handler failed without saying why"));
    const next = (error?: unknown): void => {
      const handler = handlers[at];
      at += 1;
      if (error !== undefined || handler === undefined) {
        done(error);
        return;
      }
      try {
        const handling: unknown = handler(req, res, next);
        if (handling instanceof Promise) handling.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
    next();
  };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new BodyError(400, "the path cannot be decoded: it holds a % that begins no UTF-8 character");
  }
}

/** What answers each method, and who refuses all others. */
interface Entry {
  readonly methods: ReadonlyMap<string, RequestHandler>;
  readonly others: RequestHandler;
}

function entryOf({ cors, ...route }: Route): Entry {
  const before = cors === undefined ? [] : [cors];
  const methods = methodsOf(route);
  return {
    methods: new Map(Array.from(methods, ([name, handlers]) => [name, inTurn([...before, ...handlers])])),
    others: inTurn([...before, refuseOthers(methods.keys())]),
  };
}

/** Paths that differ in one segment. */
interface Family {
  /** What comes before that segment. */
  readonly prefix: string;
  readonly parameter: string;
  /** By what comes behind it. */
  readonly entries: Map<string, Entry>;
}

/** @param base what all of them begin with */
export function createPaths(base: string): Paths {
  const exact = new Map<string, Entry>();
  const families: Family[] = [];

  function entriesOf(prefix: string, parameter: string): Family["entries"] {
    const known = families.find((family) => family.prefix === prefix);
    if (known !== undefined) return known.entries;
    const entries = new Map<string, Entry>();
    families.push({ prefix, parameter, entries });
    return entries;
  }

  /** @param params gets the one of the path @throws {BodyError} that cannot be decoded */
  function find(path: string, params: Record<string, string>): Entry | undefined {
    const entry = exact.get(path);
    if (entry !== undefined) return entry;
    for (const { prefix, parameter, entries } of families) {
      if (!path.startsWith(prefix)) continue;
      const slash = path.indexOf("/", prefix.length);
      const end = slash < 0 ? path.length : slash;
      const found = entries.get(path.slice(end));
      if (found === undefined || end === prefix.length) continue;
      params[parameter] = decoded(path.slice(prefix.length, end));
      return found;
    }
    return undefined;
  }

  return {
    add(path, route) {
      const { 1: prefix, 2: parameter, 3: rest = "" } = /^(.*\/):(\w+)(.*)$/.exec(path) ?? [];
      if (prefix === undefined || parameter === undefined) exact.set(base + path, entryOf(route));
      else entriesOf(base + prefix, parameter).set(rest, entryOf(route));
    },
    handler(req, res, next) {
      const params: Record<string, string> = {};
      const entry = find(req.path, params);
      if (entry === undefined) {
        next();
        return;
      }
      req.params = params;
      (entry.methods.get(req.method) ?? entry.others)(req, res, next);
    },
  };
}
