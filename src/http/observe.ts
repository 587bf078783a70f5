import type { RequestHandler } from "express";
import { catchUp } from "../core/base/derived.ts";
import { showClock } from "../core/base/clock.ts";
import type { OnRequest, Exchange } from "../core/testing/ledger/ledger.ts";
import { eventOf } from "../core/testing/ledger/recording.ts";
import { isLoopbackHost } from "../net/address.ts";
import { setClockHeader } from "./answer/answer.ts";
import { addressOf } from "./input/cookies.ts";
import { routeOf } from "./route.ts";
import { isBehindScenes, isObserved, takeNotes, type Web } from "./web.ts";

export interface Observers {
  readonly onRequest: OnRequest | undefined;
  /** Receives every unexpected error. The response says nothing about it. */
  readonly onUnexpected: (error: unknown) => void;
}

/** The path of an inspector is a secret, and many may read the log. */
function withoutPlace(exchange: Exchange): Exchange {
  const hidden = (text: string): string => text.replaceAll(/\/_idp\/[\w-]{22}(?![\w-])/g, "/_idp/…");
  const { path, notes } = exchange;
  const { refusal } = notes;
  return {
    ...exchange,
    path: hidden(path),
    notes: { ...notes, ...(refusal && { refusal: { ...refusal, message: hidden(refusal.message) } }) },
  };
}

/**
 * The only place that adds requests to the ledger. It does so after the response, with the notes of the route. While the clock is moved, it
 * also adds a header to each response.
 */
export const observe =
  (web: Web, { onRequest, onUnexpected }: Observers): RequestHandler =>
  (req, res, next) => {
    // The layout has changed, and the request begins again with the routes of the new one.
    if (isObserved(res)) {
      next();
      return;
    }
    const { ctx } = web;
    const began = performance.now();
    // Read now, because a router makes `req.path` relative.
    const { path, method, originalUrl: url } = req;
    const { authorization, dpop } = req.headers;
    const notes = takeNotes(res);
    const address = addressOf(web, req);
    if (address !== "" && !isLoopbackHost(address)) notes.address = address;
    // Comes after "finish", or when the connection closes early.
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
        if (isBehindScenes(web, path))
          onRequest?.(
            eventOf(withoutPlace(exchange), null, () => false),
            () => null,
          );
        else ctx.ledger.add(exchange, onRequest);
      } catch (error) {
        // The response is sent. Nothing in a request may end the server.
        onUnexpected(error);
      }
    });
    const handle = (): void => {
      setClockHeader(ctx, res);
      next();
    };
    // Once another process has answered with a change, every request sees it.
    const behind = catchUp(ctx);
    if (behind === null) handle();
    else behind.then(handle, next);
  };
