import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

/** Serves metadata documents of clients on a loopback port, and counts what is read. */

type Document = Readonly<Record<string, unknown>>;

export interface DocumentServer {
  /** `http://127.0.0.1:<port>` */
  readonly base: string;
  readonly port: number;
  /** Every request, in order: its path. */
  readonly reads: string[];
  /** The headers of the last request. */
  readonly headers: () => IncomingMessage["headers"];
  /** Serves a complete document, changed as given, at a path. @returns its URL */
  readonly publish: (path: string, change?: Document, headers?: Readonly<Record<string, string>>) => string;
  /** Answers a path in another way. @returns its URL */
  readonly answer: (path: string, how: (req: IncomingMessage, res: ServerResponse) => void) => string;
}

export const redirectUri = "http://localhost:3000/callback";

/** Ends with the file. */
export async function documentServer(
  create: (listener: RequestListener) => ReturnType<typeof createServer> = createServer,
): Promise<DocumentServer> {
  const answers = new Map<string, (req: IncomingMessage, res: ServerResponse) => void>();
  const reads: string[] = [];
  let last: IncomingMessage["headers"] = {};
  const server = create((req, res) => {
    reads.push(req.url ?? "");
    last = req.headers;
    (answers.get(req.url ?? "") ?? (() => res.writeHead(404).end()))(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const base = `http://127.0.0.1:${port}`;
  return {
    ...{ base, port, reads },
    headers: () => last,
    publish: (path, change = {}, headers = {}) => {
      const whole: Document = {
        client_id: base + path,
        client_name: "Shelf",
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: "none",
        ...change,
      };
      const document = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== undefined));
      answers.set(path, (_req, res) =>
        res.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(document)),
      );
      return base + path;
    },
    answer: (path, how) => {
      answers.set(path, how);
      return base + path;
    },
  };
}
