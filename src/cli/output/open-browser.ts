import { rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Invocation } from "../invocation.ts";
import { say } from "./print.ts";
import { isKeyUnused } from "../../serve/remote.ts";

/** How long an opener takes to find out that there is no browser, in milliseconds. */
const timeoutMs = 1000;

/** For a person who has the address on the screen already. */
const openYourself = "No browser could be opened: open the address above yourself.";

/**
 * Opens an address in the person's browser. Resolves once it is known whether that works, or after a second, because some openers run for
 * as long as the browser.
 * @param target an address without a secret, because everybody on the machine can read the arguments of a process; or the path of a file
 * @param sorry the line for stderr if it does not work
 * @returns whether a browser may have been opened
 */
export async function openBrowser(cli: Invocation, target: string, sorry = openYourself): Promise<boolean> {
  const works = await tryToOpen(target);
  if (!works) say(cli, sorry);
  return works;
}

async function tryToOpen(target: string): Promise<boolean> {
  try {
    const { default: open } = await import("open");
    const opener = await open(target);
    const settled = new Promise<boolean>((resolve) => {
      opener.once("error", () => {
        resolve(false);
      });
      // Without a browser the opener still starts, and its exit code says so.
      opener.once("exit", (code) => {
        resolve(code === 0);
      });
    });
    return await Promise.race([settled, delay(timeoutMs, true)]);
  } catch {
    return false;
  }
}

/** How long a browser may take to read the file, in milliseconds. */
const readingMs = 10_000;

/** Milliseconds between two looks whether the browser has read the file. */
const pauseMs = 100;

/**
 * Opens an address that has a one-time key. The browser is given a file that leads there and that only its owner can read; it is removed
 * once the key was used. Some browsers cannot read it, so the address has to be on the screen.
 */
export async function openWithKey(cli: Invocation, url: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "idp-open-"));
  const remove = (): void => {
    rmSync(folder, { recursive: true, force: true });
  };
  // Ctrl+C may come first.
  process.once("exit", remove);
  try {
    const file = join(folder, "open.html");
    const fromFile = `${url}&from=file`;
    // A key is in base64url, and a flow a word.
    const address = fromFile.replaceAll("&", "&amp;");
    const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${address}"><a href="${address}">${address}</a>\n`;
    await writeFile(file, page, { mode: 0o600 });
    if (!(await openBrowser(cli, file))) return;
    for (let waited = 0; waited < readingMs && (await isKeyUnused(fromFile)); waited += pauseMs) await delay(pauseMs);
  } finally {
    process.off("exit", remove);
    remove();
  }
}
