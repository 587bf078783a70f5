import { widthOf, type Invocation } from "../invocation.ts";
import { cells, cut } from "./table.ts";

/** A progress bar on stderr for work that takes longer than a second. It is gone when the work is done. */

const barWidth = 30;
const minBarWidth = 5;
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
      const percent = `  ${Math.floor(part * 100)} %`;
      // A line that reaches the edge goes on below, where nothing clears it.
      const room = widthOf(cli.stderr) - 1 - cells(percent);
      const words = cut(typeof what === "string" ? what : what(), room);
      const length = Math.min(barWidth, room - cells(words) - 2);
      const filled = Math.round(part * length);
      const bar = length < minBarWidth ? "" : `  ${"█".repeat(filled)}${"░".repeat(length - filled)}`;
      draw(words + bar + percent);
    },
    end() {
      if (shown !== "") draw("");
    },
  };
}
