import type { RequestHandler, Response } from "express";
import { after, current, differences } from "../../core/ledger/filter.ts";
import type { RequestRecord } from "../../core/ledger/record.ts";
import { operations } from "../../core/operations/table.ts";
import { streamLedger } from "../answer/event-stream.ts";
import type { Web } from "../web.ts";

/** The requests as they come, as server-sent events (HTML 9.2): each event is a record, with its id. */

/** The most bytes that may wait for a slow reader. */
const maxWaiting = 1024 * 1024;

const eventOf = (record: RequestRecord): string => `id: ${record.id}\ndata: ${JSON.stringify(record)}\n\n`;

/** It begins with those after `since` or `Last-Event-ID`, which a browser sends when it connects again. */
export const streamRequests =
  ({ ctx: { ledger } }: Web, mayRead: (res: Response) => boolean): RequestHandler =>
  async (req, res) => {
    const again = req.headers["last-event-id"];
    const given = { ...req.query, ...(typeof again === "string" && again !== "" && { since: again }) };
    const { checkInput, ofQuery } = await import("../../core/operations/schemas/input.ts");
    const { input } = operations["requests.list"];
    const filter = await checkInput(input, await ofQuery(input, given));
    const { since } = filter;
    await ledger.refresh();
    streamLedger(res, ledger, {
      mayRead: () => mayRead(res),
      maxWaiting,
      earlier: since === undefined ? [] : ledger.list().filter(after(ledger, since)),
      eventOf: (record) => (differences(current(ledger, filter), record).length > 0 ? null : eventOf(record)),
    });
  };
