import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Problem } from "./check.ts";

/**
 * Listens where a native app is sent back to (RFC 8252 7.3): on 127.0.0.1 alone, for one response, which it hands over whatever it
 * holds. It is closed the moment that response is in.
 */
export interface CallbackListener {
  readonly redirectUri: string;
  /** The parameters that came. @throws {Problem} where none came in time @param timeout seconds */
  received(timeout: number): Promise<URLSearchParams>;
  close(): void;
}

const address = "127.0.0.1";
export const callbackPath = "/callback";
/** A response of form_post is a few parameters. */
const mostBytes = 65_536;

const style =
  "body{font:1.125rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto 0;padding:0 1rem;color-scheme:light dark}h1{font-size:1.5rem}";
const headers = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};

/** A page of fixed words: nothing that was sent is in it. */
function page(response: ServerResponse, status: number, title: string, sentence: string): void {
  response.writeHead(status, headers).end(
    `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${style}</style></head>
<body><main><h1>${title}</h1><p>${sentence}</p></main></body>
</html>
`,
  );
}

/** @param port 0: a free one. @throws the system's error where it cannot listen there */
export async function listenForCallback(port: number): Promise<CallbackListener> {
  let deliver: (parameters: URLSearchParams) => void = () => undefined;
  const delivered = new Promise<URLSearchParams>((resolve) => {
    deliver = resolve;
  });
  let done = false;
  const server = createServer((request, response) => {
    receive(request, response, () => (server.address() as AddressInfo | null)?.port ?? 0)
      .then((parameters) => {
        if (parameters === null) return;
        if (done) {
          page(response, 410, "That was answered already", "You can close this tab.");
          return;
        }
        done = true;
        server.close();
        const refused = parameters.has("error");
        const sentence = refused
          ? "The sign-in was refused. The terminal says why."
          : "The terminal goes on with the sign-in.";
        response.on("close", () => {
          server.closeAllConnections();
          deliver(parameters);
        });
        page(response, 200, "You can close this tab", sentence);
      })
      .catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, address, resolve);
  });
  return {
    redirectUri: `http://${address}:${(server.address() as AddressInfo).port}${callbackPath}`,
    async received(timeout) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => {
          reject(new Problem(`nobody came back from the provider within ${timeout} s`));
        }, timeout * 1000);
      });
      try {
        return await Promise.race([delivered, late]);
      } finally {
        clearTimeout(timer);
      }
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
  // A page that points its own name here (DNS rebinding) is sent away.
  if (request.headers.host !== `${address}:${port()}`) {
    page(response, 421, "Not here", "This address answers to its own name only.");
    return null;
  }
  const [path, query = ""] = (request.url ?? "").split(/\?(.*)/s);
  if (path !== callbackPath) {
    page(response, 404, "Nothing here", "Only a provider's answer is taken here.");
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
  page(response, 405, "Not like this", "Only a provider's answer is taken here.");
  return null;
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new Problem("a response of more than 64 kB");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
