import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics } from "node:v8";
import { runInNewContext } from "node:vm";
import { setFlag } from "./compiled.ts";

/**
 * What V8 is told by `idp start`; one more flag has to come before all else, in bin/idp.js. A server that runs for days beside browsers and
 * editors takes no more memory than it has a use for: its figures are in docs/decisions/what-outlives-a-request.md. V8 reads these flags each
 * time it is about to take more; most others must not be changed while it runs (it takes the bytecode of a regular expression for machine code
 * once `--regexp-tier-up` is off).
 */

const megabyte = 1024 * 1024;

/**
 * Bytes of V8's young space: more of them than 8 MB save no time, since little of a request outlives it; 32 MB would be taken. But each time
 * that it is collected, V8 walks through a list of all pages of the heap, so that it has to grow with what is in there.
 */
const enough = (heap: number): number => Math.max(8 * megabyte, heap / 16);

/** Its size in the beginning, once both halves are there. */
const smallest = 2 * megabyte;

/** Bytes in use after starting, garbage included, from which on it is worth a collection: 0.1 s where 0.4 GB are in use. */
const large = 64 * megabyte;

/** How many times as large the young space becomes when it next grows: V8 asks for it then, and for no limit that could be set while it runs. */
function growYoungSpaceBy(factor: number): void {
  const flag = (times: number): string => `--semi-space-growth-factor=${times}`;
  setFlag(flag(2), flag(factor));
}

/** For starting: what is read then would make the young space large for good. */
export function setStartFlags(): void {
  growYoungSpaceBy(1);
}

/** From any size to what is enough in one step, and no further. */
function sizeYoungSpace(): void {
  const spaces = getHeapSpaceStatistics();
  const heap = spaces.reduce((sum, { space_size }) => sum + space_size, 0);
  const young = spaces.find(({ space_name }) => space_name === "new_space")?.space_size ?? heap;
  growYoungSpaceBy(Math.max(1, Math.floor(enough(heap) / Math.max(smallest, young))));
}

/** What was read to start with is garbage now, and little that requests do would make V8 look at it: the heap would stay twice as large. */
function collect(): void {
  setFlag("--no-expose-gc", "--expose-gc");
  (runInNewContext("gc") as () => void)();
  setFlag("--no-expose-gc", "--no-expose-gc");
}

/** For serving. */
export function setServeFlags(): void {
  if (process.memoryUsage().heapUsed > large) collect();
  // The old space grows by a third before it is collected, not to several times what is in use.
  setFlag("--heap-growing-percent=0", "--heap-growing-percent=30");
  // So little of the young space survives that to wake helpers costs more than they take off this thread.
  setFlag("--parallel-scavenge", "--no-parallel-scavenge");
  sizeYoungSpace();
  // After each collection, since any of them may make it as small as it was in the beginning: the first one after a rest does.
  new PerformanceObserver(sizeYoungSpace).observe({ entryTypes: ["gc"] });
}
