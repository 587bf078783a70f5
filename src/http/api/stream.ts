import type { RequestHandler } from "express";
import { checkFilter, differences, isAfter, type RequestFilter } from "../../core/testing/filter.ts";
import type { RequestRecord } from "../../core/testing/record.ts";
import { checkInput } from "../../core/operations/input.ts";
import { operations } from "../../core/operations/table.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import type { Web } from "../web.ts";

/** The requests as they come, as server-sent events (HTML 9.2): each event is a record, with its id. */

/** The most bytes that may wait for a slow reader. */
const mostWaiting = 1024 * 1024;

/** Milliseconds. Proxies end a connection on which nothing happens for a minute. */
const quiet = 15_000;

const eventOf = (record: RequestRecord): string => `id: ${record.id}\ndata: ${JSON.stringify(record)}\n\n`;

/** It begins with those after `since` or `Last-Event-ID`, which a browser sends when it connects again. */
export const streamRequests =
  ({ ctx: { ledger } }: Web): RequestHandler =>
  async (req, res) => {
    const given = new Map(Object.entries(req.query as Readonly<Record<string, unknown>>));
    const again = req.headers["last-event-id"];
    if (typeof again === "string" && again !== "") given.set("since", again);
    const filter = (await checkInput(operations["requests.list"].fields, given)) as RequestFilter;
    checkFilter(filter);
    res.writeHead(200, { "Content-Type": "text/event-stream", ...privateApiHeaders });
    const send = (record: RequestRecord): void => {
      if (differences(filter, record).length > 0) return;
      if (res.writableLength > mostWaiting) res.destroy();
      else res.write(eventOf(record));
    };
    res.write(":\n\n");
    if (filter.since !== undefined) {
      for (const record of ledger.list()) if (isAfter(filter.since, record)) send(record);
    }
    const unsubscribe = ledger.subscribe(send);
    const timer = setInterval(() => res.write(":\n\n"), quiet);
    const end = (): void => void res.end();
    ledger.closing.addEventListener("abort", end);
    res.on("close", () => {
      unsubscribe();
      clearInterval(timer);
      ledger.closing.removeEventListener("abort", end);
    });
    if (ledger.closing.aborted) end();
  };
