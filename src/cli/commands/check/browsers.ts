import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Places } from "../../../client/app/visit.ts";
import type { Launched } from "../../../client/app/playwright-types.ts";
import { smallBrowser } from "../../../client/app/small-browser.ts";
import { openNames, type Names } from "../../../client/app/names.ts";
import { Problem } from "../../../client/check.ts";
import { OperationError, RemoteError } from "../../../core/errors.ts";
import { callServer, type Server } from "../../../serve/remote.ts";
import { forChildren } from "../exec/exec.ts";
import type { Invocation } from "../../invocation.ts";
import { nearLookup, type CheckFlags } from "./flags.ts";
import type { Opened } from "./opened.ts";
import type { CheckPlace } from "./place.ts";

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

/** @throws {OperationError} usage without Playwright or a browser */
export async function launchChromium({ env }: Pick<Invocation, "env">): Promise<NamedChromium> {
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
      const launched = await chromium.launch({ ...way, args, env: forChildren(env) });
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
export const beginsAt =
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

/** @returns what makes a browser for each case, by the places where it may go */
export async function browserOf(
  cli: Invocation,
  flags: Pick<CheckFlags, "browser">,
  opened: Opened,
): Promise<(places: Places) => Promise<Browser>> {
  if (flags.browser !== true) return (own) => Promise.resolve(smallBrowser(own));
  const { chromiumBrowser } = await import("../../../client/app/chromium.ts");
  const chromium = await launchChromium(cli);
  await opened.add(() => chromium.close());
  return async ({ lookup, ...own }) =>
    chromiumBrowser(
      { ...own, lookup: chromium.keeping(lookup) },
      await chromium.newContext({ ignoreHTTPSErrors: true }),
    );
}

/** @param more addresses of the app @returns what makes a browser in which a user, by the username, signs in to an app */
export async function browsersOf(
  cli: Invocation,
  flags: Pick<
    CheckFlags,
    "start" | "signedIn" | "signOut" | "browser" | "allowRemote" | "startButton" | "signedInText"
  >,
  { issuer, client, server }: Pick<CheckPlace, "issuer" | "client" | "server">,
  opened: Opened,
  more: readonly string[] = [],
): Promise<(username: string) => Promise<Browser>> {
  const { start, signedIn, signOut, allowRemote, startButton, signedInText: text } = flags;
  const redirectUris = client.redirect_uris;
  const addresses = [start, signedIn, ...(signOut === undefined ? [] : [signOut]), ...redirectUris, ...more];
  const origins = addresses
    .filter((address) => /^https?:/.test(address) && URL.canParse(address))
    .map((address) => new URL(address).origin);
  const placesFor = (user: string): Places => ({
    ...{ issuer, redirectUris, origins, user, lookup: nearLookup(allowRemote), startButton },
    begin: beginsAt(server, user),
    ...(text !== undefined && { awaits: { at: signedIn, text } }),
  });
  const browserFor = await browserOf(cli, flags, opened);
  return (username) => browserFor(placesFor(username));
}
