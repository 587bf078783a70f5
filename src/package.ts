import { existsSync, readFileSync } from "node:fs";

/** What ships beside the code. */

/** The package's root: the nearest folder with a package.json. Code stands at different depths, in src/ and in dist/. */
function findRoot(folder = new URL("./", import.meta.url)): URL {
  return existsSync(new URL("package.json", folder)) ? folder : findRoot(new URL("../", folder));
}

const root = findRoot();

/** A file or folder of the package. @param path from its root: `templates/` */
export const packageFile = (path: string): URL => new URL(path, root);

const manifest = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** The version of `idp`. */
export const version = manifest.version;

/** The oldest version of Node.js that it runs on: "20.19". */
export const requiredNode = manifest.engines.node.replace(">=", "");
