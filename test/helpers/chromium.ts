import { chromium, type Browser } from "playwright-core";

/** The Chromium of this machine: `CHROMIUM_PATH`, else /usr/bin/chromium. Without one the tests that need it fail. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
}
