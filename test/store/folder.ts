/** Data folders for tests, and the JSON store on them. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openFolderStore, type FolderStore, type OpenOptions } from "./open.ts";

/** A path for a data folder that does not exist yet, in a folder that goes when the test is over. */
export function newFolder(): string {
  const parent = mkdtempSync(join(tmpdir(), "idp-store-"));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  return join(parent, "data");
}

export const openAt = (dir: string, options: Partial<OpenOptions> = {}): Promise<FolderStore> =>
  openFolderStore({ dir, now: Date.now, kind: "server", version: "0.0.0", log: () => undefined, ...options });

/** The data as a crash at this moment would leave it: what is on disk, without the lock. */
export function copyData(dir: string): string {
  const copy = newFolder();
  mkdirSync(copy);
  for (const name of ["data.json", "data.journal"]) {
    if (existsSync(join(dir, name))) cpSync(join(dir, name), join(copy, name));
  }
  return copy;
}

export const dataOf = (dir: string): string => readFileSync(join(dir, "data.json"), "utf8");
export const journalOf = (dir: string): string => readFileSync(join(dir, "data.journal"), "utf8");

/** Opens the data, reads the names of all scopes, and closes it. */
export async function scopesIn(dir: string): Promise<string[]> {
  const store = await openAt(dir);
  const names = await store.read((tx) => [...tx.all("scopes")].map(({ name }) => name));
  await store.close();
  return names;
}
