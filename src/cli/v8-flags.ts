import { getHeapSpaceStatistics } from "node:v8";
import { setFlag } from "./compiled.ts";

/**
 * What V8 is told by `idp start`; one more flag has to come before all else, in bin/idp.js. A server that runs for days beside browsers and
 * editors takes no more memory than it has a use for: its figures are in docs/decisions/what-outlives-a-request.md. V8 reads these flags each
 * time it is about to take more; most others must not be changed while it runs (it takes the bytecode of a regular expression for machine code
 * once `--regexp-tier-up` is off).
 */

/** Bytes of V8's young space: more of them than 8 MB save no time, since little of a request outlives it; 32 MB would be taken. */
const enough = 8 * 1024 * 1024;

/** The young space may double, or not. */
const doubleYoungSpace = (may: boolean): void => {
  const growBy = (factor: number): string => `--semi-space-growth-factor=${factor}`;
  setFlag(growBy(2), growBy(may ? 2 : 1));
};

/** For starting: what is read then would make the young space large for good. */
export function setStartFlags(): void {
  doubleYoungSpace(false);
}

/** For serving. */
export function setServeFlags(): void {
  // The old space grows by a tenth before it is collected, not to several times what is in use.
  setFlag("--heap-growing-percent=0", "--heap-growing-percent=10");
  // The young space is looked at once a second, since no limit can be set while V8 runs.
  setInterval(() => {
    const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space");
    doubleYoungSpace(young !== undefined && young.space_size < enough);
  }, 1000).unref();
}
