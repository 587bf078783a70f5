import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";

/** What a browser is given when a command opens one. */

interface Opened {
  /** Its arguments, as everybody on the machine sees them. */
  readonly words: string;
  /** The file that is its first argument. */
  readonly file: string;
  readonly mode: number;
  readonly text: string;
}

/** A program in a browser's place (`BROWSER`) that keeps what it was given. */
export function programThatKeeps(folder: string): { readonly program: string; readonly opened: () => Promise<Opened> } {
  const [program, kept] = [join(folder, "browser"), join(folder, "opened")];
  writeFileSync(program, `#!/bin/sh\necho "$@" > "${kept}.part"; mv "${kept}.part" "${kept}"\n`, { mode: 0o755 });
  return {
    program,
    async opened() {
      await expect.poll(() => existsSync(kept)).toBe(true);
      const words = readFileSync(kept, "utf8").trim();
      const file = words.startsWith("file:") ? fileURLToPath(words) : words;
      if (!existsSync(file)) return { words, file, mode: 0, text: "" };
      return { words, file, mode: statSync(file).mode & 0o777, text: readFileSync(file, "utf8") };
    },
  };
}
