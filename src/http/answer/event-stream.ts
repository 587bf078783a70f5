import type { Response } from "express";
import type { KeptRequest, Ledger } from "../../core/testing/ledger/ledger.ts";
import { HttpError } from "./error-answers.ts";
import { privateApiHeaders } from "./security-headers.ts";

/** Milliseconds. Proxies end a connection on which nothing happens for a minute. */
const quiet = 15_000;

/** An issuer has at most this many streams, because each takes a connection and memory until its reader leaves. */
const maxStreams = 64;

/** How many each ledger has. */
const open = new WeakMap<Ledger, number>();

/**
 * Sends the requests of the ledger as server-sent events (HTML 9.2) until the client leaves or the server closes.
 * @param options `mayRead`: whether the reader still may, else the stream ends; `maxWaiting`: the bytes that may wait for a slow reader, who is cut off then; `earlier`: records to begin with;
 * `eventOf`: the event of a record, null for none
 * @throws {HttpError} 503
 */
export function streamLedger(
  res: Response,
  ledger: Ledger,
  {
    maxWaiting,
    mayRead,
    earlier = [],
    eventOf,
  }: {
    readonly mayRead: () => boolean;
    readonly maxWaiting: number;
    readonly earlier?: readonly KeptRequest[];
    readonly eventOf: (record: KeptRequest) => string | null;
  },
): void {
  const others = open.get(ledger) ?? 0;
  if (others >= maxStreams) {
    throw new HttpError(503, `this issuer has ${maxStreams} event streams, and takes no more; close one first`, {
      retryAfter: 5,
      fix: "close a stream, such as a page of the inspector",
    });
  }
  open.set(ledger, others + 1);
  const send = (record: KeptRequest): void => {
    const event = eventOf(record);
    if (event === null) return;
    if (!mayRead()) {
      res.end();
      return;
    }
    if (res.writableLength > maxWaiting) res.destroy();
    else res.write(event);
  };
  res.writeHead(200, { "Content-Type": "text/event-stream", ...privateApiHeaders });
  res.write(":\n\n");
  for (const record of earlier) send(record);
  const unsubscribe = ledger.subscribe(send);
  const timer = setInterval(() => (mayRead() ? res.write(":\n\n") : res.end()), quiet);
  const end = (): void => void res.end();
  ledger.closing.addEventListener("abort", end);
  res.on("close", () => {
    open.set(ledger, (open.get(ledger) ?? 1) - 1);
    unsubscribe();
    clearInterval(timer);
    ledger.closing.removeEventListener("abort", end);
  });
  if (ledger.closing.aborted) end();
}
