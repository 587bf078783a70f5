import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject } from "../../../text/json.ts";

/** What package.json says about a project. */

export function manifestOf(folder: string): Readonly<Record<string, unknown>> {
  try {
    const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return isObject(manifest) ? manifest : {};
  } catch {
    // There is none, or npm reports what is wrong with it.
    return {};
  }
}

/** All dependencies of a project, with the ranges of their versions. */
export function dependenciesOf({ dependencies, devDependencies }: Readonly<Record<string, unknown>>) {
  return { ...(isObject(dependencies) && dependencies), ...(isObject(devDependencies) && devDependencies) };
}

/**
 * The major version of a package of a project: the one that is installed, here or in a folder above (a workspace), else the one in
 * package.json; null if neither says.
 */
export function installedMajor(folder: string, name: string): number | null {
  const installed = manifestOf(join(folder, "node_modules", name))["version"];
  const range = installed ?? dependenciesOf(manifestOf(folder))[name];
  const major = /\d+/.exec(typeof range === "string" ? range : "")?.[0];
  if (major !== undefined) return Number(major);
  const above = dirname(folder);
  return above === folder ? null : installedMajor(above, name);
}
