import type { Style } from "./style.ts";
import { cells, wrap } from "./table.ts";

/** A check to be printed. Its name and detail are already safe for the terminal. */
interface CheckLine {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

/** A line for each check: whether it passed, what was checked, and what was found. */
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
