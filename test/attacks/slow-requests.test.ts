import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { listen } from "../../src/http/listen.ts";
import { defaultTimeouts } from "../../src/http/node-server.ts";

/** A client that sends a request byte by byte gets a 408 and is disconnected. The server waits for milliseconds here instead of seconds. */

const timeouts = {
  ...defaultTimeouts,
  ...{ headersTimeout: 40, requestTimeout: 80, connectionsCheckingInterval: 10 },
};

test.each([
  ["headers that never end", "POST /x HTTP/1.1\r\nHost: localhost\r\n", "X: y\r\n"],
  [
    "a body that never ends",
    "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 100000\r\n\r\n",
    "x",
  ],
  [
    "chunks that never end",
    "POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n",
    "1\r\nx\r\n",
  ],
  ["a connection that says nothing", "", ""],
])("%s", async (_name, start, more) => {
  const app = express();
  app.use(express.text({ type: "*/*" }), (_req, res) => void res.send("got all of it"));
  const server = await listen(app, "localhost", 0, { timeouts });
  server.serve();
  const socket = connect(server.port, "127.0.0.1");
  const drip = setInterval(() => socket.write(more), 5);
  onTestFinished(async () => {
    clearInterval(drip);
    socket.destroy();
    await server.close();
  });
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
  socket.on("error", () => undefined).write(start);
  await new Promise((resolve) => socket.on("close", resolve));
  expect(answer).toMatch(/^HTTP\/1\.1 408 /);
});

test("an idle connection stays open for longer than the minute of common proxies, and says so", async () => {
  const server = await listen(express(), "localhost", 0);
  server.serve();
  onTestFinished(() => server.close());
  const { headers } = await fetch(`http://localhost:${server.port}/`);
  expect(headers.get("keep-alive")).toBe("timeout=65");
});

test("the default timeouts are shorter than those of Node.js, and long enough for 64 MB", () => {
  const bare = createServer();
  expect(defaultTimeouts.headersTimeout).toBeLessThan(bare.headersTimeout);
  expect(defaultTimeouts.requestTimeout).toBeLessThan(bare.requestTimeout);
  expect(defaultTimeouts.requestTimeout).toBeGreaterThanOrEqual(60_000);
});

/** Three requests sent at once for an answer of 16 MB, or for one that comes late. `closed`: the server is done with the first answer. */
async function askThrice(
  path: "/large" | "/late",
  stallTimeout: number,
): Promise<{ socket: Socket; closed: Promise<void> }> {
  const app = express();
  const large = Buffer.alloc(16_000_000, "x");
  const closed = new Promise<void>((resolve) => {
    app.use((_req, res, next) => {
      res.on("close", resolve);
      next();
    });
  });
  app.get("/large", (_req, res) => void res.send(large));
  app.get("/late", (_req, res) => void setTimeout(() => res.send("late"), 300));
  const server = await listen(app, "localhost", 0, { timeouts: { ...defaultTimeouts, stallTimeout } });
  server.serve();
  const socket = connect(server.port, "127.0.0.1").pause();
  onTestFinished(async () => {
    socket.destroy();
    await server.close();
  });
  const ends = ["", "", "Connection: close\r\n"];
  socket.write(ends.map((end) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${end}\r\n`).join(""));
  return { socket, closed };
}

/** How much is there to be read until the end. */
const bytesOf = async (socket: Socket): Promise<number> => {
  let bytes = 0;
  socket.on("data", (part: Buffer) => (bytes += part.length)).resume();
  await new Promise((resolve) => socket.on("error", () => undefined).on("close", resolve));
  return bytes;
};

test("a client that requests much and never reads is disconnected", async () => {
  const { socket, closed } = await askThrice("/large", 100);
  await closed;
  expect(await bytesOf(socket)).toBeLessThan(16_000_000);
});

test("a client that reads slowly gets the whole response", async () => {
  const stallTimeout = 2000;
  const { socket } = await askThrice("/large", stallTimeout);
  const startedAt = performance.now();
  let taken = 0;
  // 48 times: half as long again as nothing may be taken, and each of them a thirtieth of that, so that a busy machine is not what ends it.
  const pace = setInterval(() => socket.resume(), 65);
  socket.on("data", (part: Buffer) => {
    taken += part.length;
    if (taken < 1_000_000) return;
    taken = 0;
    socket.pause();
  });
  expect(await bytesOf(socket)).toBeGreaterThan(48_000_000);
  clearInterval(pace);
  expect(performance.now() - startedAt).toBeGreaterThan(stallTimeout);
});

test("a response that is still being made does not count as stalled", async () => {
  const { socket } = await askThrice("/late", 100);
  expect(await bytesOf(socket)).toBeGreaterThan(0);
});

test("a connection ends after a minute in which nothing of a response is read", () => {
  expect(defaultTimeouts.stallTimeout).toBe(60_000);
});
