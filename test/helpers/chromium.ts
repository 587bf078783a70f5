import { chromium, type Browser } from "playwright-core";
import { afterAll, inject } from "vitest";
import type { Chromium } from "./find-chromium.ts";

/** The browser that was prepared for this test run. */
export function preparedChromium(): Chromium {
  const prepared = inject("chromium");
  if (prepared === null) throw new Error("tests that use a browser have to be in a folder of that name");
  return prepared;
}

function launchForProcess(): Promise<Browser> {
  const { path, env } = preparedChromium();
  // vitest ends its processes by this signal. Playwright ends the browser on "exit".
  process.once("SIGTERM", () => process.exit());
  const handleNoSignals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };
  return chromium.launch({
    ...{ executablePath: path, args: ["--no-sandbox"], env: { ...process.env, ...env } },
    ...handleNoSignals,
  });
}

let one: Promise<Browser> | null = null;

/**
 * The Chromium that all test files of this process share: each test opens a context (or page) of its own there. Call it at the top of a file:
 * what the file leaves open is closed after it.
 */
export async function sharedChromium(): Promise<Browser> {
  afterAll(async () => {
    const browser = await one;
    await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
  });
  one ??= launchForProcess();
  return one;
}
