import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { TestProject } from "vitest/node";

/** The browser of the tests: `CHROMIUM_PATH`, else an installed Chromium or Chrome, else the one from `@sparticuz/chromium`. */

export interface Chromium {
  readonly path: string;
  /** What it needs in its environment. */
  readonly env: Readonly<Record<string, string>>;
}

declare module "vitest" {
  interface ProvidedContext {
    chromium: Chromium | null;
  }
}

// Without a window, Chromium does half of the work; so this form of it comes first.
const names = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

function usualPaths(): string[] {
  const { env, platform } = process;
  if (platform === "darwin")
    return ["Google Chrome", "Chromium"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  if (platform === "win32")
    return [env["PROGRAMFILES"], env["PROGRAMFILES(X86)"], env["LOCALAPPDATA"]].flatMap((folder) =>
      folder === undefined ? [] : [join(folder, "Google", "Chrome", "Application", "chrome.exe")],
    );
  const folders = [...(env["PATH"] ?? "").split(delimiter), "/usr/bin"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}

/** The package's Chromium is for Linux on x64 alone. */
const hasPackaged = process.platform === "linux" && process.arch === "x64";

/** Where the browser is; "packaged" if it has to be extracted from the package first, null without one. */
export const findChromium = (): string | null =>
  process.env["CHROMIUM_PATH"] ?? usualPaths().find((path) => existsSync(path)) ?? (hasPackaged ? "packaged" : null);

/** Runs in a process of its own: the package decides by the environment, and changes it. */
const extract = `
const { default: chromium } = await import("@sparticuz/chromium");
const path = await chromium.executablePath();
const { LD_LIBRARY_PATH, FONTCONFIG_PATH } = process.env;
console.log(JSON.stringify({ path, env: { LD_LIBRARY_PATH, FONTCONFIG_PATH } }));
`;

/** Extracts the packaged Chromium into a folder. */
function extractChromium(folder: string): Chromium {
  const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", extract], {
    encoding: "utf8",
    cwd: import.meta.dirname,
    // The runtime decides about the libraries that come along: NSS, which a bare machine does not have.
    env: { ...process.env, TMPDIR: folder, AWS_LAMBDA_JS_RUNTIME: "nodejs20.x" },
  });
  // Without a font, Chromium ends; its configuration looks for them in /tmp.
  const fonts = join(folder, "fonts", "fonts.conf");
  writeFileSync(fonts, readFileSync(fonts, "utf8").replaceAll("/tmp/", `${folder}/`));
  return JSON.parse(printed) as Chromium;
}

/** Finds the browser, and extracts the packaged one where it is needed, into a folder that `remove` takes away. */
export function prepareChromium(): { readonly chromium: Chromium | null; readonly remove: () => void } {
  const path = findChromium();
  if (path !== "packaged") return { chromium: path === null ? null : { path, env: {} }, remove: () => undefined };
  const folder = mkdtempSync(join(tmpdir(), "idp-chromium-"));
  return { chromium: extractChromium(folder), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Before the tests: one browser for all of their processes, where one of their files needs it. */
export default function setup(project: TestProject): () => void {
  const isNeeded = project.vitest.state.getPaths().some((path) => path.includes("/browser/"));
  const { chromium, remove } = isNeeded ? prepareChromium() : { chromium: null, remove: () => undefined };
  project.provide("chromium", chromium);
  return remove;
}
