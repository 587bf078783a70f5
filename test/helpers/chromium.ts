import { existsSync } from "node:fs";
import { chromium, type Browser } from "playwright-core";

/** Without a window Chromium does half of the work; where that form of it is missing, the whole one does as well. */
const installed = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"].find((path) => existsSync(path));

/** The Chromium of this machine: `CHROMIUM_PATH`, else that of Debian. Without one the tests that need it fail. */
export const chromiumPath = process.env["CHROMIUM_PATH"] ?? installed ?? "chromium-headless-shell";

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
