import { setTimeout as delay } from "node:timers/promises";
import type { Invocation } from "../invocation.ts";
import { say } from "../output/print.ts";

/** How long an opener takes to find out that there is no browser, in milliseconds. */
const timeoutMs = 1000;

/**
 * Opens an address in the person's browser. Resolves once it is known whether that works, or after a second, because some openers run for
 * as long as the browser.
 * @param sorry the line for stderr if it does not work
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
      // Without a browser the opener still starts, and its exit code says so.
      opener.once("exit", (code) => {
        if (code !== 0) instead();
        resolve();
      });
    });
    await Promise.race([settled, delay(timeoutMs)]);
  } catch {
    instead();
  }
}
