import type { Invocation } from "./invocation.ts";
import { say } from "./print.ts";

/** Opens an address in the person's browser; where that cannot be done, stderr says so and gives the address. */
export async function openBrowser(cli: Invocation, url: string): Promise<void> {
  const instead = (): void => say(cli, `No browser could be opened. Open it yourself: ${url}`);
  try {
    const { default: open } = await import("open");
    const opener = await open(url);
    opener.once("error", instead);
    // Where there is no browser, the opener starts all the same and then says so by its exit code.
    opener.once("exit", (code) => {
      if (code !== 0) instead();
    });
  } catch {
    instead();
  }
}
