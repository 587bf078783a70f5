import { readFileSync } from "node:fs";

/** The version in package.json, which stands two folders up from here, in the sources and in the package alike. */
export function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  return String((manifest as { version: unknown }).version);
}
