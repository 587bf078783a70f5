import { existsSync, readFileSync } from "node:fs";

/** The root of the package: the nearest folder with a package.json. Code is at different depths in src/ and dist/. */
function findRoot(folder = new URL("./", import.meta.url)): URL {
  return existsSync(new URL("package.json", folder)) ? folder : findRoot(new URL("../", folder));
}

const root = findRoot();

/** A file or folder of the package. @param path below its root: `templates/` */
export const packageFile = (path: string): URL => new URL(path, root);

const manifest = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as {
  readonly version: string;
  readonly engines: { readonly node: string };
};

/** The version of `idp`. */
export const version = manifest.version;

/** The oldest version of Node.js that it runs on: "20.19". */
export const requiredNode = manifest.engines.node.replace(">=", "");
