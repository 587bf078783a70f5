import { Agent, createServer, request, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "./at-end.ts";

/** A load balancer without stickiness: each request goes to the next server, with its headers as they came. */

export interface RoundRobin {
  readonly url: string;
  readonly port: number;
  readonly listener: RequestListener;
  /** Ports on 127.0.0.1, in their order; set before the first request, and again where a server was replaced. */
  servers: readonly number[];
  /** What a request to this path waits for. */
  before: (path: string) => Promise<unknown> | null;
}

/** @param at the port that it listens on; 0: a free one */
export async function startRoundRobin(at = 0): Promise<RoundRobin> {
  const agent = new Agent({ keepAlive: true });
  let turn = 0;
  let servers: readonly number[] = [];
  const listener: RequestListener = (req, res) => {
    const wait = robin.before(req.url ?? "");
    if (wait === null) forward(req, res);
    else void wait.catch(() => undefined).then(() => forward(req, res));
  };
  const forward: RequestListener = (req, res) => {
    const port = servers[turn % servers.length];
    turn += 1;
    const { method, url, rawHeaders } = req;
    const sent = request({ host: "127.0.0.1", port, method, path: url, headers: rawHeaders, agent }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders);
      answer.pipe(res);
      // A connection that breaks in the middle of a response breaks on this side, too.
      answer.on("error", () => res.destroy());
    });
    sent.on("error", () => res.destroy());
    res.on("close", () => sent.destroy());
    req.pipe(sent);
  };
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(at, "localhost", resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
    agent.destroy();
  });
  const { port } = server.address() as AddressInfo;
  const robin: RoundRobin = {
    ...{ url: `http://localhost:${port}`, port, listener, before: () => null },
    get servers() {
      return servers;
    },
    set servers(ports) {
      servers = ports;
    },
  };
  return robin;
}
