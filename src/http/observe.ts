import type { RequestHandler } from "express";
import type { RequestEvent } from "./request-log.ts";
import { takeNotes } from "./web.ts";

/** Tells of each request once it is answered; what the routes noted goes along. */
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
        path,
        status: res.statusCode,
        ms: Math.round((performance.now() - began) * 10) / 10,
        client: notes.client ?? null,
        user: notes.user ?? null,
        note: notes.note ?? null,
        error: notes.error ?? null,
        mismatch: notes.mismatch ?? null,
        fix: notes.fix ?? null,
      });
    });
    next();
  };
