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

/** Bytes in use after starting, garbage included, from which on it is worth a collection: 0.1 s where 0.4 GB are in use. */
const large = 64 * megabyte;

/** The young space may double, or not. */
const doubleYoungSpace = (may: boolean): void => {
  const growBy = (factor: number): string => `--semi-space-growth-factor=${factor}`;
  setFlag(growBy(2), growBy(may ? 2 : 1));
};

/** For starting: what is read then would make the young space large for good. */
export function setStartFlags(): void {
  doubleYoungSpace(false);
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
  // The old space grows by a tenth before it is collected, not to several times what is in use.
  setFlag("--heap-growing-percent=0", "--heap-growing-percent=10");
  // The young space is looked at once a second, since no limit can be set while V8 runs.
  setInterval(() => {
    const spaces = getHeapSpaceStatistics();
    const heap = spaces.reduce((sum, { space_size }) => sum + space_size, 0);
    const young = spaces.find(({ space_name }) => space_name === "new_space");
    doubleYoungSpace(young !== undefined && young.space_size < enough(heap));
  }, 1000).unref();
}
