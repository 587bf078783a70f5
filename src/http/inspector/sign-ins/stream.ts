import type { RequestHandler } from "express";
import { sendText } from "../../answer/answer.ts";
import { streamLedger } from "../../answer/event-stream.ts";
import { assetHeaders } from "../../answer/security-headers.ts";
import type { Web } from "../../web.ts";
import { operatorOf } from "../access.ts";

/** The stream that tells a page that there are new requests, and the script that listens to it. */

/** Below the inspector. */
export const streamPath = "stream";

/** How many bytes may wait for a browser that does not read them. */
const maxWaiting = 64 * 1024;

/** Server-sent events (HTML 9.2). Each names the sign-in of a new request, so that the page loads its content again. */
export const getStream =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const mayRead = (): boolean => operatorOf(web, req) !== null;
    await web.ctx.ledger.refresh();
    streamLedger(res, web.ctx.ledger, { mayRead, maxWaiting, eventOf: ({ flow, id }) => `data: ${flow ?? id}\n\n` });
  };

export const getScript =
  ({ renderer }: Web): RequestHandler =>
  (_req, res) => {
    sendText(res, 200, assetHeaders, "text/javascript; charset=utf-8", renderer.script().text);
  };
