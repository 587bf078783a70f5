import { readFileSync } from "node:fs";

/** What ships beside the code. */

/**
 * A file of the package. Only here is it known where the code stands: one folder below the package's root, in src/ as in dist/.
 * @param path from the package's root: `templates/`
 */
export const packageFile = (path: string): URL => new URL(`../${path}`, import.meta.url);

const manifest = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** The version of `idp`. */
export const version = manifest.version;

/** The oldest version of Node.js that it runs on: "20.19". */
export const requiredNode = manifest.engines.node.replace(">=", "");
