import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { sendCallbackPage, type CallbackPage } from "./callback-page.ts";
import { Problem } from "./check.ts";

/**
 * Listens at the redirect URI of a native app (RFC 8252 7.3), on 127.0.0.1 only. It returns one response unchecked, and then accepts no
 * more connections. The browser waits for its page until the sign-in is complete.
 */
export interface CallbackListener {
  readonly redirectUri: string;
  /** The parameters of the response. @throws {Problem} if none came in time @param timeout seconds */
  received(timeout: number): Promise<URLSearchParams>;
  /** Shows the browser the result of the sign-in. Resolves when the page is sent, or the browser is gone. */
  answer(page: CallbackPage): Promise<void>;
  close(): void;
}

const address = "127.0.0.1";
export const callbackPath = "/callback";
/** A response with form_post has only a few parameters. */
const maxBytes = 65_536;
const onlyResponses = "Only the response of a provider is accepted here.";

/** @param port 0 for a free one @throws the error of the system if it cannot listen there */
export async function listenForCallback(port: number): Promise<CallbackListener> {
  let deliver: (parameters: URLSearchParams) => void = () => undefined;
  const delivered = new Promise<URLSearchParams>((resolve) => {
    deliver = resolve;
  });
  let waiting: ServerResponse | null = null;
  const server = createServer((request, response) => {
    receive(request, response, () => (server.address() as AddressInfo | null)?.port ?? 0)
      .then((parameters) => {
        if (parameters === null) return;
        if (waiting !== null) {
          const sentence = "This response was already used. You can close this tab.";
          sendCallbackPage(response, 410, { title: "Already answered", sentence });
          return;
        }
        waiting = response;
        server.close();
        deliver(parameters);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    // Also later: a connection that cannot be accepted does not end the process.
    server.on("error", reject);
    server.listen(port, address, resolve);
  });
  return {
    redirectUri: `http://${address}:${(server.address() as AddressInfo).port}${callbackPath}`,
    async received(timeout) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new Problem(`no response came back from the provider within ${timeout} s`));
        }, timeout * 1000);
      });
      try {
        return await Promise.race([delivered, late]);
      } finally {
        clearTimeout(timer);
      }
    },
    async answer(page) {
      const response = waiting;
      if (response === null || response.closed) return;
      await new Promise<void>((resolve) => {
        response.once("close", resolve);
        sendCallbackPage(response, 200, page);
      });
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The parameters of a response; null if the request was not one, and has been answered. */
async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  port: () => number,
): Promise<URLSearchParams | null> {
  // Refuses a page that points its own name at this machine (DNS rebinding).
  if (request.headers.host !== `${address}:${port()}`) {
    const sentence = "This address answers to its own name only.";
    sendCallbackPage(response, 421, { title: "Wrong address", sentence });
    return null;
  }
  const [path, query = ""] = (request.url ?? "").split(/\?(.*)/s);
  if (path !== callbackPath) {
    sendCallbackPage(response, 404, { title: "Page not found", sentence: onlyResponses });
    return null;
  }
  if (request.method === "GET") return new URLSearchParams(query);
  if (
    request.method === "POST" &&
    /^application\/x-www-form-urlencoded\b/i.test(request.headers["content-type"] ?? "")
  ) {
    return new URLSearchParams(await bodyOf(request));
  }
  response.setHeader("allow", "GET, POST");
  sendCallbackPage(response, 405, { title: "Method not allowed", sentence: onlyResponses });
  return null;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new Problem("a response of more than 64 kB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
