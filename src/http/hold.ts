import type { OutgoingHttpHeaders } from "node:http";
import type { Response } from "express";

export interface MadeResponse {
  readonly status: number;
  /** In addition to those that are set on the response. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Holds a response back, so that something else can be sent in its place.
 * @param release receives the response when the handler ends it; from then on, `res` sends as usual
 */
export function holdResponse(res: Response, release: (made: MadeResponse) => void): void {
  const [writeHead, end] = [res.writeHead.bind(res), res.end.bind(res)];
  const before = new Set(res.getHeaderNames());
  let headers: OutgoingHttpHeaders = {};
  res.writeHead = ((status: number, given: OutgoingHttpHeaders = {}) => {
    res.statusCode = status;
    headers = given;
    return res;
  }) as Response["writeHead"];
  res.end = ((chunk: string | Uint8Array = "") => {
    Object.assign(res, { writeHead, end });
    const set = Object.entries(res.getHeaders()).filter(([name]) => !before.has(name));
    for (const [name] of set) res.removeHeader(name);
    release({
      status: res.statusCode,
      headers: { ...Object.fromEntries(set), ...headers },
      body: Buffer.from(chunk as string),
    });
    return res;
  }) as Response["end"];
}

/** Sends a response. @param bytes closes the connection after this many bytes of the body; absent: sends all */
export function sendMade(res: Response, { status, headers, body }: MadeResponse, bytes?: number): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
  // RFC 9110 8.6.
  if (status === 204 || status === 304) res.removeHeader("Content-Length");
  else if (res.req.method !== "HEAD") res.setHeader("Content-Length", body.length);
  res.writeHead(status);
  if (bytes === undefined) {
    res.end(body);
    return;
  }
  res.flushHeaders();
  res.write(body.subarray(0, bytes));
  res.req.socket.destroySoon();
}
