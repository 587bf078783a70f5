import type { ServerResponse } from "node:http";
import type { Request } from "express";
import { privateApiHeaders } from "./security-headers.ts";

/**
 * Answers without Express's `res.send`, which looks for a type, a validator and a range that none of these answers has.
 */

/**
 * @param headers none of them Content-Type or Content-Length
 * @param type with its charset; the text is sent as UTF-8
 */
export function sendText(
  res: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  type: string,
  text: string,
): void {
  const length = Buffer.byteLength(text);
  // All at once: faster than one by one. Node.js counts the length too, but not for HEAD.
  res.writeHead(status, { "Content-Type": type, "Content-Length": length, ...headers });
  // ASCII: as Latin-1 it is the same bytes, without being encoded.
  res.end(text, length === text.length ? "latin1" : "utf8");
}

/** The Content-Type of JSON. */
export const jsonType = "application/json; charset=utf-8";

/** JSON that no cache keeps. */
export const sendJson = (res: ServerResponse, status: number, value: unknown, headers = privateApiHeaders): void =>
  sendText(res, status, headers, jsonType, JSON.stringify(value));

/** Whether a page is wanted, or the same as data: every browser asks for HTML first. */
export function prefersHtml(req: Request): boolean {
  const { accept } = req.headers;
  return (
    accept === undefined ||
    accept === "text/html" ||
    accept.startsWith("text/html,") ||
    req.accepts(["html", "json"]) !== "json"
  );
}
