import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { addressIn, kindOfAddress, withoutBrackets } from "../../net/address.ts";

/** An address of this machine that a message names, to see whether anybody fetches it. It is open for one case alone. */

interface Listener {
  readonly url: string;
  /** "GET /path" of each request so far. */
  readonly seen: readonly string[];
  close(): Promise<void>;
}

/** @param bytes what every request is answered with, by its address */
export async function listen(bytes: (url: string) => string, type = "application/json"): Promise<Listener> {
  const seen: string[] = [];
  const path = `/${randomBytes(12).toString("hex")}`;
  const server = createServer((req, res) => {
    // Somebody who looks through all ports does not know the path.
    if (req.url?.startsWith(path) !== true) {
      res.writeHead(404).end();
      return;
    }
    seen.push(`${req.method ?? ""} ${req.url}`);
    res.writeHead(200, { "content-type": type }).end(bytes(url));
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, "127.0.0.1", resolve));
  // An interrupted check still ends.
  server.unref();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  return {
    ...{ url, seen },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
}

/** The listeners of a case. */
export function openListeners() {
  const open: Listener[] = [];
  return {
    /** An address of this machine, until the case ends. @param over aborted when its time is up */
    async listen(over: AbortSignal, bytes: (url: string) => string, type?: string): Promise<Listener> {
      over.throwIfAborted();
      const listener = await listen(bytes, type);
      open.push(listener);
      return listener;
    },
    async closeAll(): Promise<void> {
      await Promise.all(open.splice(0).map((one) => one.close()));
    },
  };
}

/** Whether whoever is at an address can reach this machine's loopback addresses: a container or another machine has its own. */
export async function isAtLoopback(url: string): Promise<boolean> {
  const named = addressIn(url);
  if (named !== null) return kindOfAddress(named) === "loopback";
  const found = await lookup(withoutBrackets(new URL(url).hostname), { all: true }).catch(() => []);
  return found.length > 0 && found.every(({ address }) => kindOfAddress(address) === "loopback");
}

/** What is said where the app may not reach the listener. */
export const notAtLoopback = "the app is not at a loopback address, so it is not known whether it would fetch one";
