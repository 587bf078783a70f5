import type { ServerResponse } from "node:http";
import type { Request } from "express";
import { privateApiHeaders } from "./security-headers.ts";

/**
 * Answers without Express's `res.send`, which looks for a type, a validator and a range that none of these answers has.
 */

/**
 * A text that is shorter than this goes out as a string, so that headers and body are one write; a longer one as bytes, so that it is
 * encoded once, and not to be counted, too.
 */
const asString = 2048;

/** @param type with its charset; the text is sent as UTF-8 */
export function sendText(
  res: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  type: string,
  text: string,
): void {
  res.statusCode = status;
  for (const name of Object.keys(headers)) res.setHeader(name, headers[name] ?? "");
  res.setHeader("Content-Type", type);
  // Node.js counts it too, but not for HEAD.
  if (text.length < asString) {
    res.setHeader("Content-Length", Buffer.byteLength(text));
    res.end(text);
  } else {
    const bytes = Buffer.from(text);
    res.setHeader("Content-Length", bytes.length);
    res.end(bytes);
  }
}

/** The Content-Type of JSON. */
export const jsonType = "application/json; charset=utf-8";

/** JSON that no cache keeps. */
export const sendJson = (res: ServerResponse, status: number, value: unknown, headers = privateApiHeaders): void =>
  sendText(res, status, headers, jsonType, JSON.stringify(value));

/** Whether a page is wanted, or the same as data: every browser asks for HTML first. */
export function prefersHtml(req: Request): boolean {
  const { accept } = req.headers;
  return accept === undefined || accept.startsWith("text/html,") || req.accepts(["html", "json"]) !== "json";
}
