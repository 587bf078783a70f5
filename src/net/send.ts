import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";

/**
 * Sends requests to somebody else. Only two others send any: what calls the control API of a server of our own, and the `fetch` that
 * client/sign-in-without-browser.ts hands to tests. A request is limited in time and size and never follows a redirect. Where it may go is for
 * the caller, who hands in `lookup` (address.ts); what a failure says is, too, since some readers may not learn anything about the network.
 */

export interface Sent {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body?: string | undefined;
  /** Resolves the name, and may refuse its addresses. Node.js does not call it for a host that is an IP address. Absent: as the system does. */
  readonly lookup?: LookupFunction | undefined;
  /** False: any certificate will do. It also holds where the environment turns the check off (NODE_TLS_REJECT_UNAUTHORIZED). */
  readonly checksCertificate: boolean;
  /** Certificates of authorities, as PEM. Absent: those of Node.js and of NODE_EXTRA_CA_CERTS. */
  readonly authorities?: readonly string[];
  /** Milliseconds, from the start of the request to the end of the answer. */
  readonly timeLimit: number;
  /** Bytes of the answer's body. */
  readonly sizeLimit: number;
  /** Milliseconds after the headers, when a body that goes on is left: it may be a stream of events. Absent: {@link timeLimit} alone. */
  readonly bodyLimit?: number | undefined;
  /** Whether the body is read; if not, the connection ends with the headers. Absent: always. */
  readonly reads?: (status: number) => boolean;
  /** Whether the status counts alone: a body that is late, large or incomplete then ends where it fails. Absent: it is a failure. */
  readonly cutsBody?: boolean | undefined;
}

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty if it was not read. */
  readonly text: string;
}

/** Why there is no answer. The error behind it is the `cause`. */
type Reason = "late" | "large" | "incomplete" | "other protocol" | "certificate" | "no connection";

export class SendError extends Error {
  readonly reason: Reason;

  constructor(reason: Reason, cause?: unknown) {
    super(`the request failed: ${reason}`, { cause });
    this.reason = reason;
  }

  /** The code that Node.js or the resolver gave; empty: there is none. */
  get code(): string {
    return codeOf(this.cause);
  }
}

function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

const isOfCertificate = (error: unknown): boolean => /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS/.test(codeOf(error));

/** @throws {SendError} if no complete answer comes; what `lookup` refused is its cause */
export async function send(url: string, sent: Sent): Promise<ReceivedResponse> {
  const { method, headers, body, lookup, checksCertificate, authorities, timeLimit, bodyLimit, reads } = sent;
  const { request: start } =
    new URL(url).protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve, reject) => {
    // A new connection, because one that was kept may lead to an address that was not checked.
    const options = { method, headers, agent: false, rejectUnauthorized: checksCertificate };
    const request = start(url, {
      ...options,
      ...(lookup !== undefined && { lookup }),
      ...(authorities !== undefined && { ca: [...authorities] }),
    });
    let answer: IncomingMessage | null = null;
    const chunks: Buffer[] = [];
    const finish = ({ statusCode: status = 0, headers: received }: IncomingMessage): void => {
      resolve({ status, headers: received, text: Buffer.concat(chunks).toString("utf8") });
    };
    const fail = (reason: Reason, cause?: unknown): void => {
      if (answer !== null && sent.cutsBody === true) finish(answer);
      else reject(new SendError(reason, cause));
      request.destroy();
    };
    const late = setTimeout(fail, timeLimit, "late");
    request.on("close", () => {
      clearTimeout(late);
    });
    request.on("error", (error) => {
      // Ignores what follows a complete response, as browsers do (RFC 9112 6.3): Apache modules send error pages twice.
      if (answer?.complete !== true) fail(isOfCertificate(error) ? "certificate" : "no connection", error);
    });
    // Nobody asked for another protocol (RFC 9110 7.8). For Node.js the request has ended here, and the socket is ours.
    request.on("upgrade", (_response, socket) => {
      socket.destroy();
      fail("other protocol");
    });
    request.on("response", (response) => {
      answer = response;
      if (reads?.(response.statusCode ?? 0) === false) {
        finish(response);
        request.destroy();
        return;
      }
      let bytes = 0;
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > sent.sizeLimit) fail("large");
        else chunks.push(chunk);
      });
      response.on("error", (error) => {
        fail("incomplete", error);
      });
      response.on("end", () => {
        finish(response);
      });
      if (bodyLimit === undefined) return;
      const left = setTimeout(() => {
        finish(response);
        request.destroy();
      }, bodyLimit);
      request.on("close", () => {
        clearTimeout(left);
      });
    });
    request.end(body);
  });
}
