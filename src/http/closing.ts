import type { Server } from "node:http";
import type { Socket } from "node:net";

/** How many milliseconds open requests may take when the server closes: the body of one might never end. */
const timeoutMs = 5000;

/**
 * Watches a server from its first connection on, so that closing it leaves nothing open. The `close` of Node.js also waits for connections
 * without a request, which browsers open in advance, and keeps a connection after its response.
 * @returns closes the server; with `answering`, open requests get their response first. Never rejects.
 */
export function closable(server: Server, tls: boolean): (options: { readonly answering: boolean }) => Promise<void> {
  const connections = new Set<Socket>();
  const unasked = new Set<Socket>();
  let closing = false;

  const rememberIn = (sockets: Set<Socket>) => (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  };
  const endIdle = (): void => {
    server.closeIdleConnections();
    for (const socket of unasked) socket.destroy();
  };
  server.on("connection", rememberIn(connections));
  server.on(tls ? "secureConnection" : "connection", rememberIn(unasked));
  server.prependListener("request", ({ socket }, res) => {
    unasked.delete(socket);
    if (closing) res.setHeader("Connection", "close");
    res.once("close", () => {
      if (closing) endIdle();
    });
  });

  return ({ answering }) => {
    closing = true;
    return new Promise((resolve) => {
      const endAll = (): void => {
        for (const socket of connections) socket.destroy();
      };
      const deadline = setTimeout(endAll, answering ? timeoutMs : 0);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      endIdle();
    });
  };
}
