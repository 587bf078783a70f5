import {
  createServer as createHttpServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
} from "node:http";
import type { Socket } from "node:net";
import { OperationError, refusalOf } from "../core/base/errors.ts";
import type { Context } from "../core/context.ts";
import { showClock } from "../core/base/clock.ts";
import { privateApiHeaders } from "./answer/security-headers.ts";
import type { OnRequest } from "../core/testing/ledger/ledger.ts";

/** Requests that Node.js cannot read, so that no route gets them. Only headers that are too large are more than a broken request. */

/** Bytes. Browsers send the cookies of all ports of localhost together. */
const maxHeaderSize = 65_536;

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

/** What is said to http at a port of https, in plain text: no browser shows more of a handshake that failed than that it did. */
const onlyHttps = "This port serves https: begin the address with https:// in place of http://\n";

/** Answers http at a port of https. OpenSSL has read the request and gives the connection up, which is still open. */
function answerHttp(server: Server): void {
  server.on(
    "tlsClientError",
    (error: Error & { readonly code?: string }, socket: { readonly _parent?: Socket | null }) => {
      const { _parent: connection } = socket;
      if (error.code !== "ERR_SSL_HTTP_REQUEST" || connection?.writable !== true) return;
      const head =
        "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff";
      connection.end(`${head}\r\nContent-Length: ${onlyHttps.length}\r\nConnection: close\r\n\r\n${onlyHttps}`);
    },
  );
}

/** What could not be read: headers that are too large, or https on a port of http. @param address of the sender */
export type OnUnread = (what: "too large" | "https", address: string) => void;

/** Whether the bytes begin a handshake of TLS (RFC 8446 5.1). */
const isTls = (bytes: Buffer | undefined): boolean => bytes?.[0] === 22 && bytes[1] === 3;

/** Answers requests that cannot be read, as Node.js does, but for headers that are too large. */
function answerUnread(server: Server, onUnread: OnUnread): void {
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
  const refusal = refusalOf({ code: "invalid_request", message, rule: "RFC 6585 5", fix });
  ctx.ledger.add(
    {
      time: ctx.now(),
      clock: ctx.clock.isMoved() ? showClock(ctx).offset : null,
      endpoint: "none",
      method: "",
      path: "",
      url: "",
      body: undefined,
      authorization: undefined,
      dpop: undefined,
      status: 431,
      isSent: true,
      ms: 0,
      notes: { refusal },
    },
    onRequest,
  );
}

/** The part of an Express app that matters here, so that users of the library need no types of Express. */
export interface ServedApp extends RequestListener {
  request: object;
  response: object;
}

/**
 * Classes of requests and responses that have the prototypes of Express. Express 5 would set those on each object, and an object whose
 * prototype was changed stays slow.
 */
function classesFor(app: ServedApp) {
  class Request extends IncomingMessage {}
  class Response<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  app.request = Request.prototype;
  app.response = Response.prototype;
  return { IncomingMessage: Request, ServerResponse: Response };
}

/** A PEM certificate and its PEM private key. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** How long the server waits for clients, in milliseconds. */
interface Timeouts {
  /** Until the headers of a request have come. */
  readonly headersTimeout: number;
  /** Until all of a request has come. */
  readonly requestTimeout: number;
  /** For how long a connection stays open between two requests. */
  readonly keepAliveTimeout: number;
  /** How often Node.js checks each connection. */
  readonly connectionsCheckingInterval: number;
  /** For how long a client may read nothing of a response. */
  readonly stallTimeout: number;
}

/**
 * Enough for a seed of 64 MB on a slow disk. A client that sends one byte per minute is disconnected. Connections stay open for longer than
 * the 60 s of common proxies: an app that is busy for the 5 s of Node.js would send its next request on a connection that is just closed.
 */
export const defaultTimeouts: Timeouts = {
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 5000,
  stallTimeout: 60_000,
};

/** For TLS 1.2, beside those of TLS 1.3: with forward secrecy, and without CBC (RFC 9325 4.2). */
const ciphers = [
  ...["TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256"],
  ...["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"].flatMap((name) => [
    `ECDHE-ECDSA-${name}`,
    `ECDHE-RSA-${name}`,
  ]),
].join(":");

export interface ServerOptions {
  /** Null for plain http. */
  readonly tls: Tls | null;
  readonly timeouts: Timeouts;
  /** Hears of requests that no route gets. */
  readonly onUnread: OnUnread;
}

/**
 * Ends a connection whose client does not read the response; otherwise it would stay open forever. Node.js restarts the timer whenever the
 * client reads. A request that is still being processed is not affected.
 */
function endStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/**
 * Handles a full URL as request target: its host replaces the `Host` header (RFC 9112 3.2.2). Express gets only the path, because it would
 * answer a URL that it cannot parse before any of our middleware runs.
 */
function toOriginForm(req: IncomingMessage): void {
  const { url = "/" } = req;
  if (url.startsWith("/")) return;
  const [, authority, rest = ""] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return;
  req.headers.host = authority;
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
}

/**
 * @param opened requests wait for it
 * @returns makes a server for the app each time it is called
 */
export function serversFor(
  app: ServedApp,
  opened: Promise<void>,
  { tls, timeouts, onUnread }: ServerOptions,
): () => Promise<Server> {
  const { stallTimeout, ...timeoutsOfNode } = timeouts;
  // `input/host-check.ts` refuses a missing Host.
  const options = { ...classesFor(app), ...timeoutsOfNode, maxHeaderSize, requireHostHeader: false };
  const listener: RequestListener = (req, res) => {
    res.on("timeout", endStalled);
    toOriginForm(req);
    void opened.then(() => app(req, res));
  };
  return async () => {
    const server =
      tls === null
        ? createHttpServer(options, listener)
        : await createHttpsServer({ ...options, ciphers, ...tls }, listener);
    server.timeout = stallTimeout;
    answerUnread(server, onUnread);
    if (tls !== null) answerHttp(server);
    return server;
  };
}

/** @throws {OperationError} usage */
async function createHttpsServer(options: object, listener: RequestListener): Promise<Server> {
  const { createServer } = await import("node:https");
  try {
    return createServer(options, listener);
  } catch (error) {
    throw new OperationError("usage", "the certificate and the key cannot be used together", {
      hint: "--cert takes a PEM certificate (with its chain), --key its PEM private key",
      cause: error,
    });
  }
}
