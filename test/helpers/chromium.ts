import { chromium, type Browser } from "playwright-core";
import { inject } from "vitest";
import type { Chromium } from "./find-chromium.ts";

/** The browser that was prepared for this test run. */
export function preparedChromium(): Chromium {
  const prepared = inject("chromium");
  if (prepared === null) throw new Error("tests that use a browser have to be in a folder of that name");
  return prepared;
}

export const launchChromium = ({ path, env }: Chromium = preparedChromium()): Promise<Browser> =>
  chromium.launch({ executablePath: path, args: ["--no-sandbox"], env: { ...process.env, ...env } });
