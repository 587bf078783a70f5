import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { ofMachine } from "./authorities.ts";
import { repository } from "./readme.ts";
import { shell } from "./shell.ts";

/** What `npm pack` makes. */
export interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}

/** Packs this package, and installs it in an empty folder, as an app does. */
export async function installPacked(folder: string): Promise<Packed> {
  const pack = await shell(`npm pack --json --ignore-scripts --pack-destination '${folder}'`, { cwd: repository });
  expect(pack.code, pack.stderr).toBe(0);
  const [packed = { filename: "", files: [] }] = JSON.parse(pack.stdout) as readonly Packed[];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "an-app", private: true, type: "module" }));
  const flags = "--prefer-offline --no-audit --no-fund --ignore-scripts";
  const install = await shell(`npm install ${flags} ./${packed.filename}`, { cwd: folder, env: ofMachine });
  expect(install.code, install.stderr).toBe(0);
  return packed;
}

/** Puts what this repository has installed, and the folder has not, into that, under the name it is imported by. */
export function borrow(folder: string, ...names: readonly string[]): void {
  for (const name of names) {
    const target = join(folder, "node_modules", name);
    mkdirSync(dirname(target), { recursive: true });
    if (!existsSync(target)) symlinkSync(join(repository, "node_modules", name), target);
  }
}
