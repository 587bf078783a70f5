import { setTimeout as delay } from "node:timers/promises";
import type { Invocation } from "./invocation.ts";
import { say } from "./print.ts";

/** An opener that finds no browser says so at once. In milliseconds. */
const patience = 1000;

/**
 * Opens an address in the person's browser; where that cannot be done, stderr says so and gives the address.
 * Resolves once that is known, or after a second: some openers stay for as long as the browser does.
 */
export async function openBrowser(cli: Invocation, url: string): Promise<void> {
  const instead = (): void => say(cli, `No browser could be opened. Open it yourself: ${url}`);
  try {
    const { default: open } = await import("open");
    const opener = await open(url);
    const settled = new Promise<void>((resolve) => {
      opener.once("error", () => {
        instead();
        resolve();
      });
      // Where there is no browser, the opener starts all the same and then says so by its exit code.
      opener.once("exit", (code) => {
        if (code !== 0) instead();
        resolve();
      });
    });
    const waiting = new AbortController();
    await Promise.race([settled, delay(patience, undefined, { signal: waiting.signal }).catch(() => undefined)]);
    waiting.abort();
  } catch {
    instead();
  }
}
