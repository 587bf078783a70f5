import type { ServerResponse } from "node:http";
import type { Request, RequestHandler, Response } from "express";
import { note } from "../web.ts";
import { privateApiHeaders } from "./security-headers.ts";
import type { Context } from "../../core/context.ts";
import { showClock } from "../../core/base/clock.ts";

/** Sends responses without Express's `res.send`, which adds a validator and looks for a range: none of these responses has either. */

/**
 * @param headers without Content-Type and Content-Length
 * @param type with its charset; the text is sent as UTF-8
 */
export function sendText(
  res: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  type: string,
  text: string | Buffer,
): void {
  const length = Buffer.byteLength(text);
  // Node.js sets the length too, but not for HEAD.
  res.writeHead(status, { "Content-Type": type, "Content-Length": length, ...headers });
  res.end(text);
}

/**
 * The location is sent unchanged: `res.redirect` would encode it again. 303, because the browser must not send a form again
 * (RFC 9700 4.12).
 */
export function redirect(res: Response, location: string): void {
  note(res, { answer: { location } });
  res.writeHead(303, { Location: location, "Content-Length": 0, ...privateApiHeaders });
  res.end();
}

/** A GET of an address that only takes a form: a person opens it again after the form was refused. Leads to the page that has the form. */
export const leadTo =
  (page: string): RequestHandler =>
  (_req, res) => {
    redirect(res, page);
  };

/** Sends JSON, which by default no cache may keep. */
export function sendJson(res: Response, status: number, value: unknown, headers = privateApiHeaders): void {
  const json = JSON.stringify(value);
  note(res, { answer: { json } });
  sendText(res, status, headers, jsonType, json);
}

export const jsonType = "application/json; charset=utf-8";

/** Whether the client prefers HTML to JSON. A client that accepts anything gets HTML. */
export const prefersHtml = (req: Request): boolean => req.accepts(["html", "json"]) !== "json";

/** Whether the client asks for HTML by name, as a browser does. A client that accepts anything gets JSON. */
export const asksForHtml = (req: Request): boolean => req.accepts(["json", "html"]) === "html";

/** Says in a response whether the clock was moved, so that a forgotten clock is easy to notice. */
export function setClockHeader(ctx: Context, res: Response): void {
  if (!ctx.clock.isMoved()) {
    res.removeHeader("Idp-Clock");
    return;
  }
  const { now, offset } = showClock(ctx);
  res.setHeader("Idp-Clock", `${now}; offset=${offset}`);
}
