import { connect } from "node:net";

/** Requests byte by byte: what no HTTP client would send. */

export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Sends bytes (as latin1) and reads until the server closes the connection.
 * @param ends says that nothing more will come, for bytes that may be no whole request
 */
export function rawRequest(port: number, bytes: string, { ends = false } = {}): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1");
    socket.on("data", (part: string) => (text += part));
    socket.on("error", (error: NodeJS.ErrnoException) => {
      // The server may close while it is still being sent to.
      if (error.code !== "ECONNRESET" && error.code !== "EPIPE") reject(error);
    });
    socket.on("close", () => {
      const [head = "", ...body] = text.split("\r\n\r\n");
      resolve({ status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body: body.join("\r\n\r\n") });
    });
    socket.write(Buffer.from(bytes, "latin1"));
    if (ends) socket.end();
  });
}
