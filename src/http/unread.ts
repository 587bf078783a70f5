import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Context } from "../core/context.ts";
import { showClock } from "../core/clock.ts";
import { privateApiHeaders } from "./answer/security-headers.ts";
import type { OnRequest } from "../core/ledger/ledger.ts";

/** Requests that Node.js cannot read, so that no route gets them. Only headers that are too large are more than a broken request. */

/** Bytes. Browsers send the cookies of all ports of localhost together. */
export const maxHeaderSize = 65_536;

const message =
  "the headers are longer than 65,536 bytes: delete cookies of this host, which browsers send to all of its ports";
const fix = "delete the cookies of this host in the browser, or send shorter headers";

/** The answers of Node.js, by its codes; any other error of its parser is 400. */
const statusLines: Readonly<Record<string, string>> = {
  HPE_CHUNK_EXTENSIONS_OVERFLOW: "413 Payload Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

function answerTo(code: string): string | null {
  if (code === "HPE_HEADER_OVERFLOW") {
    const body = JSON.stringify({ error: "invalid_request", error_description: message });
    const headers = { ...privateApiHeaders, "Content-Type": "application/json; charset=utf-8" };
    const lines = Object.entries({ ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" });
    const head = ["HTTP/1.1 431 Request Header Fields Too Large", ...lines.map(([name, value]) => `${name}: ${value}`)];
    return `${head.join("\r\n")}\r\n\r\n${body}`;
  }
  const line = statusLines[code] ?? (code.startsWith("HPE_") ? "400 Bad Request" : null);
  return line && `HTTP/1.1 ${line}\r\nConnection: close\r\n\r\n`;
}

/** What could not be read: headers that are too large, or https on a port of http. @param address of the sender */
export type OnUnread = (what: "too large" | "https", address: string) => void;

/** Whether the bytes begin a handshake of TLS (RFC 8446 5.1). */
const isTls = (bytes: Buffer | undefined): boolean => bytes?.[0] === 22 && bytes[1] === 3;

/** Answers requests that cannot be read, as Node.js does, but for headers that are too large. */
export function answerUnread(server: Server, onUnread: OnUnread): void {
  server.on("clientError", (error: Error & { readonly code?: string; readonly rawPacket?: Buffer }, socket: Socket) => {
    const { code = "", rawPacket } = error;
    const { remoteAddress = "" } = socket;
    // Node.js keeps the response that is under way here. A refusal must not be mixed into it.
    const { _httpMessage: underway } = socket as { readonly _httpMessage?: ServerResponse | null };
    const answer = socket.writable && underway?.headersSent !== true ? answerTo(code) : null;
    if (answer === null) socket.destroy(error);
    else socket.end(answer, () => socket.destroy());
    if (code === "HPE_HEADER_OVERFLOW") onUnread("too large", remoteAddress);
    if (isTls(rawPacket)) onUnread("https", remoteAddress);
  });
}

/** How many senders of https are told of: no more than these many. */
const maxSenders = 100;

/** Tells the log, and of headers the ledger. Of https it tells once per sender, since clients repeat it. */
export function unreadRecorder(ctx: Context, onRequest: OnRequest | undefined): OnUnread {
  const senders = new Set<string>();
  return (what, address) => {
    if (what === "too large") {
      recordTooLarge(ctx, onRequest);
      return;
    }
    if (senders.has(address) || senders.size >= maxSenders) return;
    senders.add(address);
    ctx.log(`${address} sent https to a port that serves http: give the app ${ctx.issuer}, or start with --https`);
  };
}

/** Records a request whose headers are too large. Node.js does not tell its method and path, so both are empty. */
function recordTooLarge(ctx: Context, onRequest: OnRequest | undefined): void {
  const refusal = { error: `invalid_request: ${message}`, rule: "RFC 6585 5", fix };
  ctx.ledger.add(
    {
      ...{ time: ctx.now(), clock: ctx.clock.isMoved() ? showClock(ctx).offset : null },
      ...{
        endpoint: "none",
        method: "",
        path: "",
        url: "",
        body: undefined,
        authorization: undefined,
        dpop: undefined,
      },
      ...{ status: 431, isSent: true, ms: 0, notes: { refusal } },
    },
    onRequest,
  );
}
