import { setTimeout as delay } from "node:timers/promises";
import type { Invocation } from "../invocation.ts";
import { say } from "../output/print.ts";

/** An opener that finds no browser says so at once. In milliseconds. */
const patience = 1000;

/**
 * Opens an address in the person's browser.
 * Resolves once it is known whether that can be done, or after a second: some openers stay for as long as the browser does.
 * @param sorry what stderr says where it cannot be done
 */
export async function openBrowser(
  cli: Invocation,
  url: string,
  sorry = `No browser could be opened. Open it yourself: ${url}`,
): Promise<void> {
  const instead = (): void => say(cli, sorry);
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
