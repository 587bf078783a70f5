import { connect, type Socket } from "node:net";

/**
 * The client of the load: one keep-alive connection, one request at a time, as little work as a request can take, so that it is the
 * server that is measured. It knows of HTTP what the servers here send: a status, headers, a body with a length or in chunks.
 */

export interface Answer {
  readonly status: number;
  /** Status line and headers as they came. */
  readonly head: string;
  readonly body: string;
}

export interface Connection {
  send(method: "GET" | "POST", path: string, headers?: string, body?: string): Promise<Answer>;
  close(): void;
}

/** Header lines for {@link Connection.send}. */
export const asForm = "Content-Type: application/x-www-form-urlencoded\r\n";
export const asJson = "Content-Type: application/json\r\n";

/** The value of a header; "" where it is not there. */
export function header(answer: Answer, name: string): string {
  return new RegExp(`^${name}: (.*)\r$`, "im").exec(answer.head)?.[1] ?? "";
}

/** Every cookie that the answer sets, as the `Cookie` header of the next request has it. */
export function cookies(answer: Answer): string {
  return Array.from(answer.head.matchAll(/^set-cookie: ([^;\r]*)/gim), ([, pair]) => pair).join("; ");
}

/** The body of a chunked answer; undefined while its end is not there. */
function unchunk(text: string): string | undefined {
  let body = "";
  for (let at = 0; ;) {
    const end = text.indexOf("\r\n", at);
    if (end < 0) return undefined;
    const size = parseInt(text.slice(at, end), 16);
    if (size === 0) return text.endsWith("\r\n\r\n") ? body : undefined;
    if (text.length < end + 2 + size + 2) return undefined;
    body += text.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
}

/** An answer, once all of it is there. */
function parse(text: string): Answer | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = text.slice(0, end + 2);
  const status = Number(text.slice(9, 12));
  const rest = text.slice(end + 4);
  const length = /^content-length: (\d+)/im.exec(head)?.[1];
  if (length !== undefined) return rest.length < Number(length) ? undefined : { status, head, body: rest };
  if (!/^transfer-encoding: chunked/im.test(head)) return { status, head, body: "" };
  const body = unchunk(rest);
  return body === undefined ? undefined : { status, head, body };
}

/** @param port on 127.0.0.1 */
export async function openConnection(port: number): Promise<Connection> {
  const host = `Host: localhost:${port}\r\n`;
  let received = "";
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | null = null;
  async function open(): Promise<Socket> {
    const socket = await new Promise<Socket>((resolve, reject) => {
      const opened: Socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(opened));
      opened.once("error", reject);
    });
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      received = received === "" ? text : received + text;
      const answer = parse(received);
      if (answer === undefined) return;
      received = "";
      const done = waiting;
      waiting = null;
      done?.resolve(answer);
    });
    socket.on("close", () => waiting?.reject(new Error("the server closed the connection")));
    return socket;
  }
  let socket = await open();
  return {
    async send(method, path, headers = "", body = "") {
      // A server closes a connection that was idle for some seconds.
      if (socket.closed) socket = await open();
      return new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        const length = body === "" ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
        socket.write(`${method} ${path} HTTP/1.1\r\n${host}${headers}${length}\r\n${body}`, "latin1");
      });
    },
    close: () => socket.destroy(),
  };
}
