import type { Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Closing a server so that nothing is left open. Node's own `close` also waits for connections on which nothing was asked yet, which browsers
 * open in advance, and keeps a connection for the next request after its response.
 */

/** How many milliseconds open requests may take: the body of one might never end. */
const patience = 5000;

/**
 * Watches a server from its first connection on.
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
      const deadline = setTimeout(endAll, answering ? patience : 0);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      endIdle();
    });
  };
}
