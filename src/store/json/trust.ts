/** Whether a file may be believed: on a machine with other users, somebody else may have put it where it was found. */
import { lstatSync, readdirSync, statSync, type Stats } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { quoteWord } from "../../text/terminal.ts";

/** Why a file or folder is not believed. */
export interface Distrust {
  readonly path: string;
  readonly problem: string;
  /** What to do about it, with the command. */
  readonly repair: string;
}

/** @returns undefined where nothing is, or this user may not look: then nothing is read either */
function look(path: string, at: typeof lstatSync = lstatSync): Stats | undefined {
  try {
    return at(path);
  } catch {
    return undefined;
  }
}

/** The users who may have made a file: this one, root, and where root looks, whoever owns the folder around it. */
function ownersFor(path: string): ReadonlySet<number> {
  const own = process.getuid?.() ?? 0;
  const around = own === 0 ? look(dirname(resolve(path)), statSync)?.uid : undefined;
  return new Set([0, own, around ?? own]);
}

/** @param whole what a repair is for: the data folder, or the file itself */
function distrustOf(path: string, owners: ReadonlySet<number>, whole: string): Distrust | null {
  const entry = look(path);
  if (entry === undefined) return null;
  if (entry.isSymbolicLink() && !owners.has(entry.uid)) {
    const repair = `Remove it: rm ${quoteWord(path)}`;
    return { path, problem: `is a link of another user (uid ${entry.uid})`, repair };
  }
  const stats = entry.isSymbolicLink() ? look(path, statSync) : entry;
  if (stats === undefined) return null;
  if (!owners.has(stats.uid)) {
    const own = process.getuid?.() ?? 0;
    const all = stats.isDirectory() || whole !== path ? "-R " : "";
    const chown = `${own === 0 ? "" : "sudo "}chown ${all}${own} ${quoteWord(whole)}`;
    const rm = `rm ${all === "" ? "" : "-r "}${quoteWord(whole)}`;
    const repair = `If you know what is in it, make it yours: ${chown}\nElse remove it: ${rm}`;
    return { path, problem: `belongs to another user (uid ${stats.uid})`, repair };
  }
  // Of a device or a socket the mode says nothing about what it holds.
  if ((stats.mode & 0o002) === 0 || !(stats.isFile() || stats.isDirectory())) return null;
  const all = whole === path && stats.isFile() ? "" : "-R ";
  const repair = `If you know what is in it: chmod ${all}o-w ${quoteWord(whole)}`;
  return { path, problem: "can be written by every user of this machine", repair };
}

/** Why a file that nobody named, such as the fixtures of the working folder, is not believed; null: it is. */
export function distrustOfFile(path: string): Distrust | null {
  return process.getuid === undefined ? null : distrustOf(path, ownersFor(path), path);
}

/** What idp reads in a data folder, which may be one with other files (`--data .`). */
const ours = /^(?:data\.json|data\.journal|lock\.json|issuers|tls-cert\.pem|tls-key\.pem|extra-ca-certs\.pem)$/;

/** Why a data folder, or what idp reads in it, is not believed; null: it is, or is not there. */
export function distrustOfFolder(folder: string): Distrust | null {
  if (process.getuid === undefined) return null;
  const owners = ownersFor(folder);
  const below = (path: string, counts: (name: string) => boolean): readonly string[] => {
    try {
      return readdirSync(path)
        .filter(counts)
        .map((name) => join(path, name));
    } catch {
      // Not a folder, or closed to this user: whoever opens it says so.
      return [];
    }
  };
  const of = (path: string): Distrust | null => distrustOf(path, owners, folder);
  const inside = (path: string): Distrust | null => {
    for (const entry of below(path, (name) => ours.test(name))) {
      const found = of(entry);
      if (found !== null) return found;
    }
    return null;
  };
  const first = of(folder) ?? inside(folder);
  if (first !== null) return first;
  for (const issuer of below(join(folder, "issuers"), () => true)) {
    const found = of(issuer) ?? inside(issuer);
    if (found !== null) return found;
  }
  return null;
}
