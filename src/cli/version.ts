import { readFileSync } from "node:fs";

/** package.json stands two folders up from here, in the sources and in the package alike. */
const manifest = (): { readonly version: string; readonly engines: { readonly node: string } } =>
  JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as ReturnType<typeof manifest>;

/** The version of `idp`. */
export const version = (): string => manifest().version;

/** The oldest version of Node.js that it runs on: "20.19". */
export const requiredNode = (): string => manifest().engines.node.replace(">=", "");
