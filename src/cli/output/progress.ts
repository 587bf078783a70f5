import type { Invocation } from "../invocation.ts";

/** A progress bar on stderr for work that takes longer than a second. It is gone when the work is done. */

const barWidth = 30;
const shownAfterMs = 1000;

export interface Progress {
  readonly update: (done: number, total: number) => void;
  readonly end: () => void;
}

/** @param what is being done, in a few words, which may change */
export function showProgress(cli: Invocation, what: string | (() => string)): Progress {
  const began = cli.now();
  let shown = "";
  const draw = (line: string): void => {
    // Goes back to the start of the line and clears it.
    if (line !== shown) cli.stderr.write(`\r\u001b[K${line}`);
    shown = line;
  };
  return {
    update(done, total) {
      if (!cli.animated || total === 0 || cli.now() - began < shownAfterMs) return;
      // Never 100%, because what comes after the last entry takes a while too.
      const part = Math.min(0.99, done / total);
      const filled = Math.round(part * barWidth);
      const bar = "█".repeat(filled) + "░".repeat(barWidth - filled);
      draw(`${typeof what === "string" ? what : what()}  ${bar}  ${Math.floor(part * 100)} %`);
    },
    end() {
      if (shown !== "") draw("");
    },
  };
}
