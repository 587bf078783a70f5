import type { LogEntry, LogPart } from "../../../store/store.ts";
import { createFlows, type Flows, type Links } from "./flows.ts";
import { idForm, maxActs, type Act, type Ledger, type KeptRequest } from "./ledger.ts";

/** What an entry of the log says. */
export type Content =
  { readonly record: KeptRequest; readonly links: Links | null } | { readonly act: Omit<Act, "after"> };

type ReadEntry = Pick<LogEntry, "id" | "at"> & { readonly content: Content };

const entryOf = ({ id, at, content }: LogEntry): ReadEntry => ({ id, at, content: JSON.parse(content) as Content });

/** The records and acts of all entries together. */
interface View {
  readonly records: readonly KeptRequest[];
  /** The places of the records, from 1 on, by their ids. */
  readonly places: ReadonlyMap<string, number>;
  readonly acts: readonly Act[];
  /** The name that a flow has now, by others that it had at an instance that did not know all of its requests. */
  readonly names: ReadonlyMap<string, string>;
}

/** The instance that got a request has given it a flow, if it begins one. */
const newFlows = (): Flows =>
  createFlows(
    () => Infinity,
    () => "",
  );

/**
 * @param entries the oldest first. The clocks of instances are some milliseconds apart, so a request may stand before the one that issued its
 *   token: all that links requests is learned before they are joined.
 */
function viewOf(entries: readonly ReadEntry[]): View {
  const flows = newFlows();
  const { records } = joined(entries, newFlows());
  const flowOf = new Map(records.map(({ id, flow }) => [id, flow]));
  for (const { content } of entries) {
    if ("act" in content || content.links === null) continue;
    const flow = flowOf.get(content.record.id);
    if (flow != null) flows.learn(content.links, flow);
  }
  return joined(entries, flows);
}

function joined(entries: readonly ReadEntry[], flows: Flows): View {
  const records: KeptRequest[] = [];
  const places = new Map<string, number>();
  const acts: Act[] = [];
  const names = new Map<string, string>();
  for (const { content } of entries) {
    if ("act" in content) {
      acts.push({ ...content.act, after: records.length });
      continue;
    }
    const { record, links } = content;
    const own = record.flow;
    const flow = flows.join(links, own === null ? null : (names.get(own) ?? own));
    if (own !== null && flow !== null && own !== flow) names.set(own, flow);
    records.push(flow === own ? record : { ...record, flow });
    places.set(record.id, records.length);
  }
  return { records, places, acts: acts.slice(-maxActs), names };
}

/** What this process has read of the log, in the order of the log's clock. All processes make the same of the same entries. */
interface Merged extends Pick<
  Ledger,
  "size" | "list" | "find" | "placeOf" | "flowNamed" | "acts" | "hasDropped" | "lost"
> {
  /** Where the next part begins. */
  place(): number;
  /** @returns the requests of the part that are held, with their links */
  take(part: LogPart): readonly { readonly record: KeptRequest; readonly links: Links | null }[];
}

/** @param size how many requests it holds */
export function createMerged(size: () => number): Merged {
  let entries: readonly ReadEntry[] = [];
  let read: Pick<LogPart, "place" | "cleared" | "lost"> = { place: 0, cleared: 0, lost: 0 };
  /** When the last request to each endpoint was dropped. */
  const droppedAt = new Map<string, number>();
  let view: View | null = null;
  const current = (): View => (view ??= viewOf(entries));

  const drop = (endpoint: string, at: number): void => {
    droppedAt.set(endpoint, Math.max(at, droppedAt.get(endpoint) ?? 0));
  };
  /** The entries without the oldest requests that there is no room for, and without the acts before them. */
  function fitting(all: readonly ReadEntry[]): readonly ReadEntry[] {
    let tooMany = all.filter(({ content }) => "record" in content).length - size();
    let first = 0;
    for (; tooMany > 0; first += 1) {
      const oldest = all[first];
      if (oldest === undefined || !("record" in oldest.content)) continue;
      drop(oldest.content.record.endpoint, oldest.at);
      tooMany -= 1;
    }
    return all.slice(first);
  }
  const find = (id: string): KeptRequest | undefined => current().records[(current().places.get(id) ?? 0) - 1];

  return {
    place: () => read.place,
    take(part) {
      const { cleared } = part;
      // Otherwise the database was set back to an earlier state.
      const kept = part.place < read.place ? [] : entries.filter(({ at }) => at > cleared);
      const added = part.entries.filter(({ at }) => at > cleared).map(entryOf);
      if (kept.length !== entries.length || added.length > 0) view = null;
      if (cleared !== read.cleared) droppedAt.clear();
      read = part;
      for (const [endpoint, at] of Object.entries(part.dropped)) drop(endpoint, at);
      entries = fitting([...kept, ...added].sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1)));
      return added.flatMap(({ id, content }) => {
        const record = find(id);
        return record === undefined || !("record" in content) ? [] : [{ record, links: content.links }];
      });
    },
    lost: () => read.lost,
    size: () => current().records.length,
    list: () => current().records,
    find,
    // A record that is gone was before all others.
    placeOf: (id) => (idForm.test(id) ? (current().places.get(id) ?? 0) : null),
    flowNamed(flow) {
      const { records, names } = current();
      return records.some((record) => record.flow === flow) ? flow : (names.get(flow) ?? flow);
    },
    acts: () => current().acts,
    hasDropped(endpoint, after) {
      const id = current().records[after - 1]?.id;
      const at = entries.find((entry) => entry.id === id)?.at ?? 0;
      return [...droppedAt].some(([one, when]) => when > at && (endpoint === null || endpoint === one));
    },
  };
}
