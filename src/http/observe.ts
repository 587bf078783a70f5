import type { Request, RequestHandler, Response } from "express";
import { showClock } from "../core/testing/clock.ts";
import type { Line, RequestEvent } from "../core/testing/record.ts";
import { cut, redacted } from "../repeated.ts";
import { routeOf } from "./route.ts";
import { takeNotes, type RequestNotes, type Web } from "./web.ts";

/** Hands each request to the ledger once it is answered, with the notes of its route: the only place that does. */

/** Cuts names for the log: the sender of a request chooses their length. */
const longest = 500;

const brief = (text: string | null | undefined): string | null => (text == null ? null : cut(redacted(text), longest));

/** @param onRequest receives its line of the log */
export const observe =
  (web: Web, onRequest: ((event: RequestEvent) => void) | undefined): RequestHandler =>
  (req, res, next) => {
    const began = performance.now();
    // `req.path` is relative to the router that handles it by then.
    const { path } = req;
    const notes = takeNotes(res);
    // After "finish", and also where the connection is closed before that.
    res.on("close", () => {
      const ms = Math.round((performance.now() - began) * 10) / 10;
      const line = lineOf(web, { req, res, path, ms }, notes);
      // CONTRACT 10: neither the control API nor the inspector is what the app under test does.
      if (path.startsWith(`${web.base}/_idp/`)) {
        onRequest?.({ id: null, ...line });
        return;
      }
      const { authorization, dpop } = req.headers;
      const event = web.ctx.ledger.add(line, {
        url: req.originalUrl,
        body: req.body as unknown,
        authorization,
        dpop: typeof dpop === "string" ? dpop : undefined,
        answer: notes.answer ?? null,
      });
      onRequest?.(event);
    });
    next();
  };

function lineOf(
  { ctx }: Web,
  { req, res, path, ms }: { readonly req: Request; readonly res: Response; readonly path: string; readonly ms: number },
  notes: RequestNotes,
): Line {
  const error = notes.error ?? null;
  return {
    time: new Date(ctx.now()).toISOString(),
    method: req.method,
    endpoint: routeOf(res).name,
    path: redacted(path),
    status: res.headersSent ? res.statusCode : 0,
    ms,
    client: brief(notes.client),
    user: brief(notes.user),
    outcome: res.writableFinished ? brief(notes.outcome) : "the connection was closed before the response",
    error,
    mismatch: notes.mismatch ?? null,
    rule: notes.rule ?? null,
    fix: notes.fix ?? null,
    fault: notes.fault ?? null,
    clock: ctx.clock.isMoved() ? showClock(ctx).offset : null,
  };
}
