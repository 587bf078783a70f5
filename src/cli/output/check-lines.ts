import type { Style } from "./style.ts";
import { cells, wrap } from "./table.ts";

/** A check as it is printed: its name and detail are safe for the terminal by then. */
interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** Each check on a line of its own: whether it passed, what was looked at, and what was found. */
export function checkLines(checks: readonly CheckLine[], style: Style, width: number): string {
  const names = Math.max(0, ...checks.map(({ name }) => cells(name)));
  const indent = " ".repeat(names + 4);
  return checks
    .map(({ name, ok, detail }) => {
      const mark = ok ? style.green("✓") : style.red("✗");
      const title = `${mark} ${style.dim(name)}${" ".repeat(names - cells(name) + 2)}`;
      return (title + wrap(detail, width, indent).slice(indent.length)).trimEnd();
    })
    .join("\n");
}
