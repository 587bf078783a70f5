import {
  createServer as createHttpServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { OperationError } from "../core/errors.ts";
import { closable } from "./closing.ts";

/** Listening: on every address of the host, or not at all. */

/** Addresses that are taken, where requests wait until `serve` says that they can be answered. */
export interface Listening {
  readonly port: number;
  /** From here on requests are answered. */
  readonly serve: () => void;
  /** Stops taking connections; resolves when the requests under way are answered. Never rejects. */
  close(): Promise<void>;
}

/** An Express app, by what matters here: users of the library need no types of Express for ours. */
interface App extends RequestListener {
  request: object;
  response: object;
}

/**
 * Makes requests and responses that are born with Express's prototypes. Express 5 sets those anew on each object, which slows the object
 * for its whole life, unless they are there already: then it changes nothing.
 */
function bornFor(app: App) {
  class Request extends IncomingMessage {}
  class Response<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(Request.prototype, app.request);
  Object.setPrototypeOf(Response.prototype, app.response);
  app.request = Request.prototype;
  app.response = Response.prototype;
  return { IncomingMessage: Request, ServerResponse: Response };
}

type Born = ReturnType<typeof bornFor>;

/**
 * Milliseconds that a request may take to come in: its headers, and all of it. Node.js looks at each connection once in an interval.
 * `stallTimeout`: for how long nothing of an answer may be taken.
 */
export interface Patience {
  readonly headersTimeout: number;
  readonly requestTimeout: number;
  readonly connectionsCheckingInterval: number;
  readonly stallTimeout: number;
}

/** Enough for the 64 MB of a seed on a slow disk; somebody who sends a byte a minute keeps no connection. */
export const defaultPatience: Patience = {
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 5000,
  stallTimeout: 60_000,
};

interface ServerOptions {
  /** Null: plain http. */
  readonly tls: Tls | null;
  /** For how long a request may come in. */
  readonly patience: Patience;
}

/**
 * Ends a connection on which an answer waits and is not taken: else whoever asks and never reads keeps it for ever. What is taken slowly goes
 * on (Node.js begins anew where some of it went), and so does a request that is still worked at: nothing of it waits to be sent.
 */
function endStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

async function createAppServer(app: App, born: Born, gate: Gate, options: ServerOptions): Promise<Server> {
  const server = await createBareServer(app, born, gate, options);
  server.timeout = options.patience.stallTimeout;
  return server;
}

async function createBareServer(app: App, born: Born, gate: Gate, { tls, patience }: ServerOptions): Promise<Server> {
  const listener: RequestListener = (req, res) => {
    res.on("timeout", endStalled);
    toOriginForm(req);
    if (gate.isOpen) app(req, res);
    else void gate.opened.then(() => app(req, res));
  };
  // A missing Host is refused where every other one is that is not ours.
  const given = { ...born, ...patience, requireHostHeader: false };
  if (tls === null) return createHttpServer(given, listener);
  const { createServer: createHttpsServer } = await import("node:https");
  try {
    return createHttpsServer({ ...given, ...tls }, listener);
  } catch (error) {
    throw new OperationError("usage", "the certificate and the key cannot be used together", {
      hint: "--cert takes a PEM certificate (with its chain), --key its PEM private key",
      cause: error,
    });
  }
}

/**
 * A whole URL as request target: its host counts, whatever `Host` says (RFC 9112 3.2.2). Express is handed the path alone, for it answers
 * by itself, before all that is mounted, where a URL cannot be parsed.
 */
function toOriginForm(req: IncomingMessage): void {
  const { url = "/" } = req;
  if (url.startsWith("/")) return;
  const [, authority, rest = ""] = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return;
  req.headers.host = authority;
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
}

/** A PEM certificate and its PEM private key. */
export interface Tls {
  readonly cert: string;
  readonly key: string;
}

/** Holds requests back that come before everything is ready to answer them: so the port can be known first. */
interface Gate {
  isOpen: boolean;
  readonly opened: Promise<void>;
  readonly open: () => void;
}

function createGate(): Gate {
  let resolveOpened = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    resolveOpened = resolve;
  });
  const gate: Gate = {
    isOpen: false,
    opened,
    open: () => {
      gate.isOpen = true;
      resolveOpened();
    },
  };
  return gate;
}

const isCode = (error: unknown, ...codes: string[]): boolean =>
  error instanceof Error && "code" in error && codes.includes(String(error.code));

/** A server that listens on one address. */
interface Bound {
  readonly server: Server;
  readonly close: ReturnType<typeof closable>;
}

async function bind(
  app: App,
  born: Born,
  gate: Gate,
  options: ServerOptions,
  port: number,
  address: string,
): Promise<Bound> {
  const server = await createAppServer(app, born, gate, options);
  const close = closable(server, options.tls !== null);
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host: address, exclusive: true, ipv6Only: address.includes(":") }, () => {
      server.off("error", reject);
      resolve({ server, close });
    });
  });
}

const portOf = ({ server }: Bound): number => (server.address() as AddressInfo).port;

/** `localhost` means both loopback addresses: clients resolve it to either. */
const addressesOf = (host: string): readonly string[] => (host === "localhost" ? ["127.0.0.1", "::1"] : [host]);

/** For a free port that must be the same on two addresses. */
const attempts = 20;

/**
 * Listens on every address of `host`, the same port for all. `app` may get its routes later, before `serve`.
 * @param port 0: a free one
 * @throws {OperationError} conflict where the port is taken; usage where the address is not this machine's
 */
export async function listen(
  app: App,
  host: string,
  port: number,
  { tls = null, patience = defaultPatience }: Partial<ServerOptions> = {},
): Promise<Listening> {
  const gate = createGate();
  const born = bornFor(app);
  for (let attempt = 1; ; attempt += 1) {
    const servers: Bound[] = [];
    try {
      for (const address of addressesOf(host)) {
        try {
          servers.push(
            await bind(
              app,
              born,
              gate,
              { tls, patience },
              servers[0] === undefined ? port : portOf(servers[0]),
              address,
            ),
          );
        } catch (error) {
          // A machine without IPv6 has no ::1 to listen on.
          if (!(address === "::1" && isCode(error, "EADDRNOTAVAIL", "EAFNOSUPPORT"))) throw error;
        }
      }
      const [first] = servers;
      if (first === undefined) throw new OperationError("usage", `host "${host}" has no address here`);
      return {
        port: portOf(first),
        serve: gate.open,
        close: async () => {
          // What waits at the gate can never be answered once it stays shut.
          await Promise.all(servers.map(({ close }) => close({ answering: gate.isOpen })));
        },
      };
    } catch (error) {
      await Promise.all(servers.map(({ close }) => close({ answering: false })));
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
  if (isCode(error, "EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL")) {
    return new OperationError("usage", `host "${host}" is not an address of this machine`, {
      hint: "Leave --host out for loopback only, or use 0.0.0.0 for every address",
      cause: error,
    });
  }
  return error;
}
