import type { RequestHandler } from "express";
import { catchUp } from "../core/derived.ts";
import { showClock } from "../core/testing/clock.ts";
import type { RequestEvent } from "../core/testing/record.ts";
import { lineOf } from "../core/testing/recording.ts";
import { showInResponse } from "./answer/clock-header.ts";
import { routeOf } from "./route.ts";
import { takeNotes, type Web } from "./web.ts";

export interface Observers {
  /** Receives the line of the log of each request. */
  readonly onRequest: ((event: RequestEvent) => void) | undefined;
  /** Receives every error that nobody expected. The response says nothing about it. */
  readonly onUnexpected: (error: unknown) => void;
}

/**
 * Hands each request to the ledger once it is answered, with the notes of its route: the only place that does. Before that it shows in the
 * response whether the clock was moved.
 */
export const observe =
  ({ ctx, base }: Web, { onRequest, onUnexpected }: Observers): RequestHandler =>
  (req, res, next) => {
    const began = performance.now();
    // `req.path` is relative to the router that handles it by then.
    const { path, method, originalUrl: url } = req;
    const { authorization, dpop } = req.headers;
    const notes = takeNotes(res);
    // After "finish", and also where the connection is closed before that.
    res.on("close", () => {
      const exchange = {
        method,
        path,
        url,
        notes,
        authorization,
        time: ctx.now(),
        clock: ctx.clock.isMoved() ? showClock(ctx).offset : null,
        endpoint: routeOf(res).name,
        body: req.body as unknown,
        dpop: typeof dpop === "string" ? dpop : undefined,
        status: res.headersSent ? res.statusCode : 0,
        isSent: res.writableFinished,
        ms: Math.round((performance.now() - began) * 10) / 10,
      };
      try {
        // CONTRACT 10: neither the control API nor the inspector is what the app under test does.
        if (path.startsWith(`${base}/_idp/`)) onRequest?.(lineOf(exchange));
        else ctx.ledger.add(exchange, onRequest);
      } catch (error) {
        // The request is answered; whatever it held must not end the server.
        onUnexpected(error);
      }
    });
    const goOn = (): void => {
      if (ctx.clock.isMoved()) showInResponse({ ctx }, res);
      next();
    };
    // Whatever a request asks for, it never sees less than what another process answered before.
    const behind = catchUp(ctx);
    if (behind === null) goOn();
    else behind.then(goOn, next);
  };
