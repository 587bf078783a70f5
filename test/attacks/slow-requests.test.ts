import { createServer } from "node:http";
import { connect } from "node:net";
import express from "express";
import { expect, onTestFinished, test } from "vitest";
import { defaultPatience, listen } from "../../src/http/listen.ts";

/** Who sends a request byte by byte is answered 408 and disconnected. The server waits for milliseconds here instead of seconds. */

const patience = { headersTimeout: 40, requestTimeout: 80, connectionsCheckingInterval: 10 };

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
  const server = await listen(app, "localhost", 0, null, patience);
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

test("as it is delivered it waits for seconds, less than Node.js would, and long enough for 64 MB", () => {
  const bare = createServer();
  expect(defaultPatience.headersTimeout).toBeLessThan(bare.headersTimeout);
  expect(defaultPatience.requestTimeout).toBeLessThan(bare.requestTimeout);
  expect(defaultPatience.requestTimeout).toBeGreaterThanOrEqual(60_000);
});
