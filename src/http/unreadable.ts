import { STATUS_CODES, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { sendJson } from "./answer.ts";
import { privateApiHeaders } from "./security-headers.ts";

/**
 * What cannot be read as a request reaches no route: Node.js answers it with a status line alone. Here it is told why, as by every other
 * refusal (CONTRACT 2.6). Nothing is known of who asks, so it is told as JSON.
 */

interface Refusal {
  readonly status: number;
  readonly message: string;
}

const unreadable: Refusal = { status: 400, message: "this cannot be read as an HTTP/1.1 request (RFC 9112)" };

/** By the codes of Node.js. */
const refusals: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    message:
      "the header fields are larger than 16 KB together; in a browser it is most likely cookies, which all ports of a host share: delete those of this host",
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, message: "the chunk extensions of the body are too large" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, message: "the request did not come in whole in time" },
};

const bodyOf = (message: string): object => ({ error: "invalid_request", error_description: message });

function textOf({ status, message }: Refusal): string {
  const body = JSON.stringify(bodyOf(message));
  const headers = {
    ...privateApiHeaders,
    "Content-Type": "application/json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("")}\r\n${body}`;
}

/** The first byte of TLS (RFC 8446 5.1: a handshake record). */
const tlsHandshake = 0x16;

/** What is said in the log: whoever spoke the other protocol cannot read the answer. Null for all else. */
function wrongProtocol({ code = "", rawPacket }: NodeJS.ErrnoException & { rawPacket?: Buffer }): string | null {
  if (rawPacket?.[0] === tlsHandshake)
    return "a client came with https to this port, which speaks http: see which issuer it was told";
  if (code === "ERR_SSL_HTTP_REQUEST")
    return "a client came with http to this port, which speaks https: see which issuer it was told";
  return null;
}

/** Gives a server these answers. @param log is told what the client cannot be told */
export function explainUnreadable(server: Server, log: (note: string) => void): void {
  /** The answer that a connection was given last. */
  const answers = new WeakMap<Duplex, ServerResponse>();
  server.prependListener("request", ({ socket }, res) => answers.set(socket, res));
  server.on("checkExpectation", (_req, res) => {
    sendJson(res, 417, bodyOf("the only expectation that can be met is 100-continue (RFC 9110 10.1.1)"));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const note = wrongProtocol(error);
    if (note !== null) log(note);
    const last = answers.get(socket);
    // In the middle of an answer these bytes would be taken for a part of it.
    const isAnswering = last?.headersSent === true && !last.writableFinished;
    if (!socket.writable || isAnswering || error.code === "ECONNRESET") {
      socket.destroy();
      return;
    }
    socket.end(textOf(refusals[error.code ?? ""] ?? unreadable), () => socket.destroy());
  });
}
