import { Agent, request, type IncomingHttpHeaders } from "node:http";

/** A small client for load: keep-alive connections, no redirects, no parsing. */

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Client {
  send(
    method: "GET" | "POST",
    path: string,
    options?: { body?: string; headers?: Record<string, string> },
  ): Promise<Answer>;
  close(): void;
}

export function createClient(origin: string, connections: number): Client {
  const { hostname, port } = new URL(origin);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    send: (method, path, { body, headers = {} } = {}) =>
      new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
        const sent = request(
          { hostname, port, path, method, agent, headers: { ...headers, ...length } },
          (response) => {
            const chunks: Buffer[] = [];
            response.on("data", (chunk: Buffer) => chunks.push(chunk));
            response.on("end", () => {
              resolve({
                status: response.statusCode ?? 0,
                headers: response.headers,
                body: Buffer.concat(chunks).toString(),
              });
            });
            response.on("error", reject);
          },
        );
        sent.on("error", reject);
        sent.end(body);
      }),
    close: () => {
      agent.destroy();
    },
  };
}

/** Runs `work` `count` times, `concurrency` at once. @returns requests a second */
export async function rate(
  count: number,
  concurrency: number,
  work: (index: number) => Promise<void>,
): Promise<number> {
  let next = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      while (next < count) {
        const index = next;
        next += 1;
        await work(index);
      }
    }),
  );
  return (count * 1000) / (performance.now() - began);
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
