import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/**
 * A server that runs for days beside browsers and editors takes no more memory than it has a use for: its figures are in
 * docs/decisions/what-outlives-a-request.md. V8 reads these flags each time it is about to take more.
 */

/** Bytes of V8's young space: more of them than 8 MB save no time, since little of a request outlives it; 32 MB would be taken. */
const enough = 8 * 1024 * 1024;

const growBy = (factor: 1 | 2): void => {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
};

/** For starting: what is read then would make the young space large for good. */
export function keepYoungSpace(): void {
  growBy(1);
}

/** For serving. The young space is looked at once a second, since no limit can be set while V8 runs. */
export function staySmall(): void {
  // The old space grows by a tenth before it is collected, not to several times what is in use.
  setFlagsFromString("--heap-growing-percent=10");
  setInterval(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    growBy(young !== undefined && young.space_size < enough ? 2 : 1);
  }, 1000).unref();
}
