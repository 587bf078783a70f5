import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Browser, Places } from "../../client/app/visit.ts";
import type { Launched } from "../../client/app/playwright-types.ts";
import { smallBrowser } from "../../client/app/small-browser.ts";
import { openNames, type Names } from "../../client/app/names.ts";
import { Problem } from "../../client/check.ts";
import { OperationError, RemoteError } from "../../core/base/errors.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import type { AppFlags } from "./flags.ts";
import type { Session } from "./check.ts";

/** The browsers of the cases: without scripts or, with `--browser`, in Chromium. Playwright is optional, and comes from the app's project. */

const packages = ["playwright-core", "playwright", "@playwright/test"];

interface Way {
  readonly executablePath?: string;
  readonly channel?: string;
}

interface Playwright {
  readonly chromium: {
    launch(options: Way & { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv }): Promise<Launched>;
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

/** A Chromium, and the names that it connects to. */
interface NamedChromium extends Launched, Pick<Names, "keeping"> {}

/** @param env what the browser may have @throws {OperationError} usage without Playwright or a browser */
export async function launchChromium(env: NodeJS.ProcessEnv): Promise<NamedChromium> {
  const { chromium } = await findPlaywright();
  const names = await openNames();
  // Chromium sends connections to this machine past a proxy, unless it is told not to.
  const args = [`--proxy-server=${names.proxy}`, "--proxy-bypass-list=<-loopback>"];
  const { CHROMIUM_PATH: path } = env;
  const usual: readonly Way[] = [
    {},
    { channel: "chrome" },
    { channel: "chromium" },
    ...installed(env.PATH).map((executablePath) => ({ executablePath })),
  ];
  const ways = path === undefined ? usual : [{ executablePath: path }];
  let last: unknown = null;
  for (const way of ways) {
    try {
      const launched = await chromium.launch({ ...way, args, env });
      return {
        newContext: (options) => launched.newContext(options),
        close: () => launched.close().finally(names.close),
        keeping: names.keeping,
      };
    } catch (error) {
      last = error;
    }
  }
  names.close();
  throw new OperationError("usage", "Playwright finds no Chromium that it can start", {
    hint: {
      text: "Name one with CHROMIUM_PATH, or install it",
      command: ["npx", "playwright-core", "install", "chromium"],
    },
    cause: last,
  });
}

/** Begins a user's session where nobody can be picked on the login page (`--login password`). @param server the issuer */
const beginsAt =
  (server: Server, user: string): NonNullable<Places["begin"]> =>
  async (uid, csrf) => {
    try {
      return (await callServer(server, "sessions.begin", { user, sign_in: uid, csrf })).cookie;
    } catch (error) {
      if (error instanceof RemoteError) throw new Problem(error.message);
      throw error;
    }
  };

/** Milliseconds that a browser may take to close. */
export const closeLimit = 5000;

type BrowserFlags = Pick<AppFlags, "signedIn" | "startButton" | "signedInText"> & { readonly browser?: true };

/** Who uses a browser. */
interface Somebody {
  readonly username: string;
  /** Cancels at idp in place of signing in. */
  readonly cancels?: boolean;
}

/**
 * What makes a browser for a case: without scripts or, with `--browser`, in Chromium.
 * @param redirectUris to which idp may send it
 * @param addresses of the app, beside these; those that are not of the web are left out
 */
export async function browsersOf(
  { host, opened, lookup }: Pick<Session, "host" | "opened" | "lookup">,
  { browser, signedIn, startButton, signedInText: text }: BrowserFlags,
  {
    server,
    issuer,
    redirectUris,
    addresses,
  }: {
    readonly server: Server;
    readonly issuer: string;
    readonly redirectUris: () => readonly string[];
    readonly addresses: readonly (string | null | undefined)[];
  },
): Promise<(somebody: Somebody) => Promise<Browser>> {
  const placesFor = ({ username: user, cancels = false }: Somebody): Places => {
    const all = redirectUris();
    const origins = [...addresses, signedIn, ...all]
      .filter((one) => one !== null && one !== undefined)
      .filter((address) => /^https?:/.test(address) && URL.canParse(address))
      .map((address) => new URL(address).origin);
    return {
      ...{ issuer, redirectUris: all, origins, user, cancels, lookup, startButton },
      begin: beginsAt(server, user),
      ...(text !== undefined && { awaits: { at: signedIn, text } }),
    };
  };
  if (browser !== true) return (somebody) => Promise.resolve(smallBrowser(placesFor(somebody)));
  const { chromiumBrowser } = await import("../../client/app/chromium.ts");
  const chromium = await launchChromium(host.childEnv);
  await opened.add(() => chromium.close());
  return async (somebody) => {
    const { lookup: near, ...places } = placesFor(somebody);
    const context = await chromium.newContext({ ignoreHTTPSErrors: true });
    return chromiumBrowser({ ...places, lookup: chromium.keeping(near) }, context);
  };
}

/** The browsers that a case opened. @param limit milliseconds that one may take to close */
export function openBrowsers(limit: number) {
  let open: Browser[] = [];
  return {
    add(browser: Browser): Browser {
      open.push(browser);
      return browser;
    },
    closeAll: async (): Promise<void> => {
      const left = open;
      open = [];
      for (const browser of left) {
        const late = delay(limit, null, { ref: false });
        await Promise.race([browser.close().catch(() => undefined), late]);
      }
    },
  };
}
