import { once } from "node:events";
import { connect, createServer, type AddressInfo, type LookupFunction, type Socket } from "node:net";
import type { LookupAddress } from "node:dns";
import { pipeline } from "node:stream";
import { checkedLookup, kindOfAddress } from "../../net/address.ts";
import { resolved } from "../http.ts";
import { FarAddressError } from "./near.ts";

/**
 * The names that Chromium connects to. It would resolve each name anew, after it was checked, and a resolver may answer otherwise then (DNS
 * rebinding). So it sends every connection through a proxy on this machine (SOCKS 5, RFC 1928), which resolves each name once.
 */
export interface Names {
  /** The address of the proxy. */
  readonly proxy: string;
  /** Resolves and checks as another function does; what was found once stays. */
  readonly keeping: (lookup: LookupFunction) => LookupFunction;
  readonly close: () => void;
}

const plain = (host: string): string => host.toLowerCase().replace(/\.$/, "");

/** What a page loads may be anywhere, but never where machines of clouds keep their credentials. */
const notForbidden = checkedLookup((address) => {
  if (kindOfAddress(address) === "forbidden") throw new FarAddressError(`${address} is never opened`);
});

/** The next bytes of a connection. @throws {Error} where it ends before */
async function take(socket: Socket, count: number): Promise<Buffer> {
  for (;;) {
    const bytes = socket.read(count) as Buffer | null;
    if (bytes?.length === count) return bytes;
    if (bytes !== null || socket.readableEnded || socket.destroyed) throw new Error("the connection ended");
    await once(socket, "readable");
  }
}

/** RFC 1928 5: an IPv4 address, a name, or an IPv6 address. */
async function hostIn(socket: Socket, kind: number): Promise<string> {
  if (kind === 1) return [...(await take(socket, 4))].join(".");
  if (kind === 3) {
    const [length = 0] = await take(socket, 1);
    return (await take(socket, length)).toString("latin1");
  }
  const bytes = (await take(socket, 16)).toString("hex");
  return (bytes.match(/.{4}/g) ?? []).join(":");
}

/** RFC 1928 6: the answer, with an address that no client looks at. */
const answer = (code: number): Buffer => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
const [succeeded, notAllowed] = [0, 2];

export async function openNames(): Promise<Names> {
  const found = new Map<string, readonly LookupAddress[]>();
  const keeping =
    (lookup: LookupFunction): LookupFunction =>
    (host, options, callback) => {
      const known = found.get(plain(host))?.[0];
      // Checked again: another caller may allow less.
      lookup(known?.address ?? host, { ...options, all: true }, (error, addresses) => {
        if (error === null && Array.isArray(addresses) && known === undefined) found.set(plain(host), addresses);
        callback(error, addresses);
      });
    };
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  };

  async function serve(socket: Socket): Promise<void> {
    const [, methods = 0] = await take(socket, 2);
    await take(socket, methods);
    socket.write(Buffer.from([5, 0]));
    const [, , , kind = 0] = await take(socket, 4);
    const host = await hostIn(socket, kind);
    const port = (await take(socket, 2)).readUInt16BE();
    const addresses = await resolved(host, keeping(notForbidden)).catch(() => null);
    if (addresses === null) {
      socket.end(answer(notAllowed));
      return;
    }
    const there = found.get(plain(host)) ?? addresses;
    const lookup: LookupFunction = (_host, _options, callback) => callback(null, [...there]);
    const target = connect({ host, port, lookup, autoSelectFamily: true });
    keep(target);
    await once(target, "connect");
    socket.write(answer(succeeded));
    pipeline(socket, target, socket, () => undefined);
  }

  const server = createServer((socket) => {
    keep(socket);
    serve(socket).catch(() => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    proxy: `socks5://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keeping,
    close: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
