import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { OperationError } from "../core/base/errors.ts";
import { defaultTimeouts, serversFor, type ServedApp, type ServerOptions } from "./node-server.ts";

/** A port that is taken. Requests to it wait until `serve` is called. */
export interface Listening {
  readonly port: number;
  /** Answers requests from now on. */
  readonly serve: () => void;
  /** Stops taking connections; resolves when the open requests are answered. Never rejects. */
  close(): Promise<void>;
}

const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** A server that listens on one address. */
interface Bound {
  readonly server: Server;
  readonly close: ReturnType<typeof closable>;
}

async function bind(server: Server, tls: boolean, port: number, address: string): Promise<Bound> {
  const close = closable(server, tls);
  return new Promise((resolve, reject) => {
    // Also later: a connection that cannot be accepted (ENFILE) is lost, and without a listener the process would be, too.
    server.on("error", reject);
    server.listen({ port, host: address, exclusive: true, ipv6Only: address.includes(":") }, () => {
      resolve({ server, close });
    });
  });
}

const portOf = ({ server }: Bound): number => (server.address() as AddressInfo).port;

/** `localhost` means both loopback addresses, because clients resolve it to either. Node.js takes an empty host for every address. */
function addressesOf(host: string): readonly string[] {
  if (host === "") throw notHere(host);
  return host.toLowerCase() === "localhost" ? ["127.0.0.1", "::1"] : [host];
}

const notHere = (host: string, cause?: unknown): OperationError =>
  new OperationError("usage", `host "${host}" is not an address of this machine`, {
    hint: "Leave --host out for loopback only, or use 0.0.0.0 for every address",
    cause,
  });

/** How often to look for a port that is free on both addresses. */
const attempts = 20;

/**
 * Listens on every address of `host`, with the same port, or on none. `app` may get its routes later, before `serve`.
 * @param port 0: a free one
 * @throws {OperationError} conflict if the port is taken; usage if the address is not one of this machine
 */
export async function listen(
  app: ServedApp,
  host: string,
  port: number,
  { tls = null, timeouts = defaultTimeouts, onUnread = () => undefined }: Partial<ServerOptions> = {},
): Promise<Listening> {
  let open = (): void => undefined;
  let isOpen = false;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const createServer = serversFor(app, opened, { tls, timeouts, onUnread });
  for (let attempt = 1; ; attempt += 1) {
    const servers: Bound[] = [];
    const closeAll = async (answering: boolean): Promise<void> => {
      await Promise.all(servers.map(({ close }) => close({ answering })));
    };
    try {
      for (const address of addressesOf(host)) {
        try {
          const samePort = servers[0] === undefined ? port : portOf(servers[0]);
          servers.push(await bind(await createServer(), tls !== null, samePort, address));
        } catch (error) {
          // A machine without IPv6 has no ::1 to listen on.
          if (!(address === "::1" && isCode(error, "EADDRNOTAVAIL", "EAFNOSUPPORT"))) throw error;
        }
      }
      const [first] = servers;
      if (first === undefined) throw new OperationError("usage", `host "${host}" has no address here`);
      return {
        port: portOf(first),
        serve: () => {
          isOpen = true;
          open();
        },
        // Before `serve`, no waiting request is answered.
        close: () => closeAll(isOpen),
      };
    } catch (error) {
      await closeAll(false);
      if (isCode(error, "EADDRINUSE") && port === 0 && attempt < attempts) continue;
      throw explain(error, host, port);
    }
  }
}

function explain(error: unknown, host: string, port: number): unknown {
  if (isCode(error, "EADDRINUSE")) {
    return new OperationError("conflict", `port ${port} is in use by another program`, {
      hint: { text: "Use another port (the issuer changes with it)", command: ["idp", "start", "--port", "auto"] },
      cause: error,
    });
  }
  if (isCode(error, "EACCES")) {
    return new OperationError("usage", `port ${port} may not be used by this user`, {
      hint: { text: "Use a port above 1023", command: ["idp", "start", "--port", "4370"] },
      cause: error,
    });
  }
  return isCode(error, "EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL") ? notHere(host, error) : error;
}

/** How many milliseconds open requests may take when the server closes: the body of one might never end. */
const timeoutMs = 5000;

/**
 * Watches a server from its first connection on, so that closing it leaves nothing open. The `close` of Node.js also waits for connections
 * without a request, which browsers open in advance, and keeps a connection after its response.
 * @returns closes the server; with `answering`, open requests get their response first. Never rejects.
 */
function closable(server: Server, tls: boolean): (options: { readonly answering: boolean }) => Promise<void> {
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
