import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** An app or an API under test. */
interface Served {
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
}

/** Serves an app or an API. What goes wrong in it answers 500. @param port 0: a free one */
export async function serveApp(
  port: number,
  app: () => Served | null,
  { onRequest = () => undefined }: { readonly onRequest?: (path: string) => void } = {},
) {
  const server = createServer((req, res) => {
    onRequest(req.url ?? "");
    const found = app();
    if (found === null) {
      req.socket.destroy();
      return;
    }
    found.handle(req, res).catch(() => {
      if (!res.headersSent) res.writeHead(500);
      res.end();
    });
  });
  server.listen(port, "localhost");
  await once(server, "listening");
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
