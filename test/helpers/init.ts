import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { newFolder } from "./cli.ts";
import { idpIn } from "./command.ts";

/** `idp init` in the folder of an app. */

/** A folder with a package.json. */
export function project(
  dependencies: Readonly<Record<string, string>>,
  more: Readonly<Record<string, unknown>> = {},
): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "@team/my app", dependencies, ...more }));
  return cwd;
}

interface Made {
  readonly client: Readonly<Record<string, unknown>>;
  readonly found: readonly string[];
  readonly library: string | null;
  readonly env: object | null;
  readonly pieces: readonly { readonly where: string; readonly text: string; readonly written: boolean }[];
}

/** What `idp init` says that it found and made. */
export async function made(cwd: string, ...flags: readonly string[]): Promise<Made & { readonly stderr: string }> {
  const { code, stdout, stderr } = await idpIn(cwd, ["init", "--json", ...flags]);
  expect(code, stderr).toBe(0);
  return { ...(JSON.parse(stdout) as Made), stderr };
}
