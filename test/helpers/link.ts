/** A connection to a server on this machine that a test can cut, slow down, or hold the answers of. */
import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";
import { atEnd } from "./at-end.ts";

export interface Link {
  /** The same URL, by way of this link. */
  through(url: string): string;
  /** What is sent still arrives; answers do not. */
  holdAnswers(): void;
  /** Closes all connections. Later ones work again. */
  cut(): void;
  /** Closes all connections when a statement with this text comes, once. @returns resolves then */
  cutAt(statement: string): Promise<void>;
  /** Closes all connections, and refuses others until {@link allow}. */
  refuse(): void;
  allow(): void;
}

/** @param port of the server @param slow milliseconds that what is sent takes, and the answers to it: they may be changed */
export async function openLink(port: number, slow: Readonly<{ there?: number; back?: number }> = {}): Promise<Link> {
  const sockets = new Set<Socket>();
  let holds = false;
  let refuses = false;
  let awaited: { readonly statement: string; readonly met: () => void } | null = null;
  const pass = (to: Socket, bytes: Buffer, ms = 0): void => {
    if (ms === 0) to.write(bytes);
    else setTimeout(() => to.destroyed || to.write(bytes), ms);
  };
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (refuses) {
      near.destroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    keep(far);
    near
      .on("data", (bytes) => {
        if (awaited === null || !bytes.includes(awaited.statement)) {
          pass(far, bytes, slow.there);
          return;
        }
        awaited.met();
        awaited = null;
        cut();
      })
      .on("close", () => far.destroy());
    far
      .on("data", (bytes) => {
        if (!holds) pass(near, bytes, slow.back);
      })
      .on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = (): void => {
    holds = false;
    for (const socket of sockets) socket.destroy();
  };
  atEnd(() => {
    cut();
    server.close();
  });
  return {
    through(url) {
      const other = new URL(url);
      other.port = String((server.address() as AddressInfo).port);
      return other.href;
    },
    holdAnswers() {
      holds = true;
    },
    cut,
    cutAt: (statement) =>
      new Promise((met) => {
        awaited = { statement, met };
      }),
    refuse() {
      refuses = true;
      cut();
    },
    allow() {
      refuses = false;
    },
  };
}
