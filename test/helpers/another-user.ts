import { lchownSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What another user of this machine left. Only root can make it, so elsewhere tests try what every user can: modes. */

const isRoot = process.getuid?.() === 0;

/** Nobody in particular. */
export const stranger = 65_533;

/** Cases that need another user's files: none where this process cannot make them. */
export const ofStrangers = <T>(cases: readonly T[]): readonly T[] => (isRoot ? cases : []);

/** Gives a file, or a folder and what is in it, to another user. A link is given itself. */
export function giveAway(path: string, uid = stranger): void {
  lchownSync(path, uid, uid);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  for (const name of readdirSync(path)) giveAway(join(path, name), uid);
}
