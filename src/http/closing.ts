import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/**
 * Closing a server so that nothing is left open. Node's own `close` waits for connections on which nothing was asked yet, as browsers
 * open them in advance, and keeps those alive that were busy when it was called: minutes, in a test that has ended.
 */

/** For how many milliseconds requests that are under way are waited for: one whose body never ends would be waited for forever. */
const patience = 5000;

/** A connection by its far end: with https one and the same is first a plain socket, then a secure one. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress ?? ""} ${remotePort ?? 0}`;

/**
 * Watches a server from its first connection on.
 * @returns closes it: requests under way are answered, for as long as `patience`; all other connections end at once. Never rejects.
 */
export function closable(server: Server): (options: { readonly answering: boolean }) => Promise<void> {
  const sockets = new Map<string, Socket>();
  const busy = new Map<ServerResponse, Socket>();
  let closing = false;

  const watch = (socket: Socket): void => {
    const name = nameOf(socket);
    sockets.set(name, socket);
    socket.once("close", () => {
      if (sockets.get(name) === socket) sockets.delete(name);
    });
  };
  server.on("connection", watch).on("secureConnection", watch);
  server.prependListener("request", ({ socket }, res) => {
    busy.set(res, socket);
    if (closing) res.setHeader("Connection", "close");
    res.once("close", () => {
      busy.delete(res);
      if (closing) socket.destroySoon();
    });
  });

  return ({ answering }) => {
    closing = true;
    return new Promise((resolve) => {
      const deadline = setTimeout(() => {
        for (const socket of sockets.values()) socket.destroy();
      }, patience);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      const waitedFor = new Set(answering ? busy.values() : []);
      for (const res of busy.keys()) if (!res.headersSent) res.setHeader("Connection", "close");
      for (const socket of sockets.values()) if (!waitedFor.has(socket)) socket.destroy();
    });
  };
}
