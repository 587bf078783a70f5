import type { RequestHandler } from "express";
import { cut, redacted } from "../repeated.ts";
import type { RequestEvent } from "./request-log.ts";
import { routeOf } from "./route.ts";
import { takeNotes } from "./web.ts";

/** Cuts names for the log: the sender of a request chooses their length. */
const longest = 500;

const brief = (text: string | null | undefined): string | null => (text == null ? null : cut(redacted(text), longest));

/** Reports each request once it is answered, with the notes of its route. */
export const observe =
  (onRequest: (event: RequestEvent) => void, now: () => number): RequestHandler =>
  (req, res, next) => {
    const began = performance.now();
    // `req.path` is relative to the router that handles it by then.
    const { path } = req;
    const notes = takeNotes(res);
    res.on("finish", () => {
      onRequest({
        time: new Date(now()).toISOString(),
        method: req.method,
        endpoint: routeOf(res).name,
        path: redacted(path),
        status: res.statusCode,
        ms: Math.round((performance.now() - began) * 10) / 10,
        client: brief(notes.client),
        user: brief(notes.user),
        note: brief(notes.note),
        error: notes.error ?? null,
        mismatch: notes.mismatch ?? null,
        fix: notes.fix ?? null,
      });
    });
    next();
  };
