import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { openNames } from "../../src/client/app/names.ts";

/** The proxy that Chromium connects through: RFC 1928. */

async function served() {
  const names = await openNames();
  onTestFinished(names.close);
  const server = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { names, port: (server.address() as AddressInfo).port };
}

/** Asks the proxy for a connection. @param address as RFC 1928 5 writes it @returns the code, and what came through */
async function ask(proxy: string, address: readonly number[], port: number): Promise<readonly [number, string]> {
  const socket = connect(Number(new URL(proxy).port), "127.0.0.1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  socket.on("error", () => undefined);
  // In parts, as a network delivers them.
  const request = [5, 1, 0, 5, 1, 0, ...address, port >> 8, port & 255];
  for (const byte of request) socket.write(Buffer.from([byte]));
  await once(socket, "close");
  const bytes = Buffer.concat(chunks);
  return [bytes[3] ?? -1, bytes.subarray(12).toString()];
}

const named = (name: string): readonly number[] => [3, name.length, ...Buffer.from(name)];

test("connects by address and by name", async () => {
  const { names, port } = await served();
  expect(await ask(names.proxy, [1, 127, 0, 0, 1], port)).toEqual([0, "hello"]);
  expect(await ask(names.proxy, named("localhost"), port)).toEqual([0, "hello"]);
  expect(await ask(names.proxy, [4, ...Array<number>(10).fill(0), 255, 255, 127, 0, 0, 1], port)).toEqual([0, "hello"]);
});

test("connects to no address where machines of clouds keep their credentials, whatever loads it", async () => {
  const { names } = await served();
  for (const address of [[1, 169, 254, 169, 254], [1, 100, 100, 100, 200], named("169.254.169.254")]) {
    expect((await ask(names.proxy, address, 80))[0]).toBe(2);
  }
});

test("a name stays at the address that was found first", async () => {
  const { names, port } = await served();
  const lookup = names.keeping((_host, _options, callback) => callback(null, [{ address: "127.0.0.1", family: 4 }]));
  await new Promise<void>((resolve) => lookup("app.test", { all: true }, () => resolve()));
  expect(await ask(names.proxy, named("APP.test."), port)).toEqual([0, "hello"]);
  expect((await ask(names.proxy, named("other.test"), port))[0]).toBe(2);
});
