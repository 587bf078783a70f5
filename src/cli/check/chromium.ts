import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Launched } from "../../client/app-check/playwright-types.ts";
import { OperationError } from "../../core/errors.ts";
import type { Invocation } from "../invocation.ts";

/** The Chromium of `--browser`. Playwright is optional, and comes from the app's project. */

const packages = ["playwright-core", "playwright", "@playwright/test"];

interface Playwright {
  readonly chromium: {
    launch(options: { readonly executablePath?: string; readonly channel?: string }): Promise<Launched>;
  };
}

async function findPlaywright(): Promise<Playwright> {
  const resolve = createRequire(join(process.cwd(), "package.json"));
  for (const name of packages) {
    try {
      const loaded = (await import(pathToFileURL(resolve.resolve(name)).href)) as Playwright & { default?: Playwright };
      return loaded.default ?? loaded;
    } catch {
      // The next one may be installed.
    }
  }
  throw new OperationError("usage", "--browser needs Playwright, which this project does not have", {
    hint: { text: "Install it", command: ["npm", "install", "--save-dev", "playwright-core"] },
  });
}

/** The browsers that the system has installed, such as /usr/bin/chromium. */
const installed = (path = ""): readonly string[] =>
  path
    .split(delimiter)
    .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
    .filter((file) => isAbsolute(file) && existsSync(file));

/** @throws {OperationError} usage without Playwright or a browser */
export async function launchChromium({ env }: Invocation): Promise<Launched> {
  const { chromium } = await findPlaywright();
  const { CHROMIUM_PATH: path } = env;
  const usual = [
    {},
    { channel: "chrome" },
    { channel: "chromium" },
    ...installed(env.PATH).map((executablePath) => ({ executablePath })),
  ];
  const ways = path === undefined ? usual : [{ executablePath: path }];
  let last: unknown = null;
  for (const way of ways) {
    try {
      return await chromium.launch(way);
    } catch (error) {
      last = error;
    }
  }
  throw new OperationError("usage", "Playwright finds no Chromium that it can start", {
    hint: {
      text: "Name one with CHROMIUM_PATH, or install it",
      command: ["npx", "playwright-core", "install", "chromium"],
    },
    cause: last,
  });
}
