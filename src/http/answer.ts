import type { ServerResponse } from "node:http";
import type { Request } from "express";
import { privateApiHeaders } from "./security-headers.ts";

/**
 * Answers without Express's `res.send`, which looks for a type, a validator and a range that none of these answers has.
 */

/** An answer that is ready: its head is written, its content is still to come. */
interface Ready {
  readonly res: ServerResponse;
  readonly text: string;
  readonly encoding: "latin1" | "utf8";
}

let ready: Ready[] = [];

function sendReady(): void {
  const answers = ready;
  ready = [];
  for (const { res, text, encoding } of answers) res.end(text, encoding);
}

/** How many turns of the event loop an answer waits for others: by then what had come with its request is handled too. */
const turns = 3;

const afterTurns = (left: number): void => void setImmediate(left === 1 ? sendReady : () => afterTurns(left - 1));

/**
 * Sends answers that get ready within a few turns of the event loop together: for the first of them the system wakes up whoever waits on this
 * machine, and for the others that one is awake already (docs/decisions/answers-leave-together.md).
 */
function endWith(res: ServerResponse, text: string, encoding: Ready["encoding"]): void {
  if (ready.length === 0) afterTurns(turns);
  ready.push({ res, text, encoding });
}

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
  endWith(res, text, length === text.length ? "latin1" : "utf8");
}

/**
 * The address stands as it is: `res.redirect` would encode it anew, and a redirect URI is kept to the letter. 303: the browser must not repeat
 * a form there (RFC 9700 4.12).
 */
export function redirect(res: ServerResponse, location: string): void {
  res.writeHead(303, { Location: location, "Content-Length": 0, ...privateApiHeaders });
  endWith(res, "", "latin1");
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
