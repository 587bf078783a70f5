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

interface Connection {
  readonly socket: Socket;
  /** The responses that are under way. */
  readonly answers: ServerResponse[];
}

/**
 * Watches a server from its first connection on.
 * @returns closes it: requests under way are answered, for as long as `patience`; all other connections end at once. Never rejects.
 */
export function closable(server: Server): (options: { readonly answering: boolean }) => Promise<void> {
  const connections = new Map<string, Connection>();
  const bySocket = new WeakMap<Socket, Connection>();
  let closing = false;

  const watch = (socket: Socket): void => {
    const name = nameOf(socket);
    const connection = { socket, answers: [] };
    connections.set(name, connection);
    bySocket.set(socket, connection);
    socket.once("close", () => {
      if (connections.get(name) === connection) connections.delete(name);
    });
  };
  server.on("connection", watch).on("secureConnection", watch);
  server.prependListener("request", ({ socket }, res) => {
    const answers = bySocket.get(socket)?.answers ?? [];
    answers.push(res);
    if (closing) res.setHeader("Connection", "close");
    res.once("close", () => {
      answers.splice(answers.indexOf(res), 1);
      if (closing) socket.destroySoon();
    });
  });

  return ({ answering }) => {
    closing = true;
    return new Promise((resolve) => {
      const deadline = setTimeout(() => {
        for (const { socket } of connections.values()) socket.destroy();
      }, patience);
      server.close(() => {
        clearTimeout(deadline);
        resolve();
      });
      for (const { socket, answers } of connections.values()) {
        for (const res of answers) if (!res.headersSent) res.setHeader("Connection", "close");
        if (!answering || answers.length === 0) socket.destroy();
      }
    });
  };
}
