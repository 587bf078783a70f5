import { spawnSync } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { OperationError } from "../../../core/base/errors.ts";
import type { Hint } from "../../../core/base/hint.ts";
import { cannotBeWritten, putFile } from "../../output/put-file.ts";

/** The files that signed-in browsers are written to. */

const placeholder = "{user}";

/** A username as a part of a path: it leads to no other folder. */
function partOf(user: string): string {
  const plain = user.replaceAll(/[^A-Za-z0-9._@-]/gu, "_");
  return /^\.+$/.test(plain) ? "_".repeat(plain.length) : plain;
}

/**
 * The file of each user.
 * @throws {OperationError} usage where two would be written to one file
 */
export function filesFor(users: readonly string[], output: string | undefined): ReadonlyMap<string, string> | null {
  if (output === undefined || !output.includes(placeholder)) {
    if (users.length > 1) {
      throw new OperationError(
        "usage",
        `${users.length} users need a file each: --output has no ${placeholder} in it`,
        {
          hint: `Add --output with ${placeholder} in it, for example --output auth/${placeholder}.json`,
        },
      );
    }
    return output === undefined ? null : new Map(users.map((user) => [user, output]));
  }
  const files = new Map<string, string>();
  for (const user of users) {
    const file = output.replaceAll(placeholder, () => partOf(user));
    const other = [...files].find(([, taken]) => taken.toLowerCase() === file.toLowerCase())?.[0];
    if (other !== undefined) {
      throw new OperationError("usage", `${other} and ${user} would be written to the same file, ${file}`, {
        hint: "Sign them in with a command each, and name the files.",
      });
    }
    files.set(user, file);
  }
  return files;
}

/** Writes a file that only its owner can read. @throws {OperationError} usage */
export async function writeSignedIn(file: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await putFile(file, `${text}\n`, 0o600);
  } catch (error) {
    throw cannotBeWritten(`--output ${file}`, error);
  }
}

/** What Git would do with a file; null: nothing, or there is no Git. */
export function gitNote(file: string): Hint | null {
  const ask = (...words: readonly string[]): number | null =>
    spawnSync("git", [...words, "--", basename(file)], { cwd: dirname(file), stdio: "ignore" }).status;
  if (ask("--literal-pathspecs", "ls-files", "--error-unmatch") === 0) {
    return {
      text: `Git tracks ${file}, which signs in whoever has it. To end that`,
      command: ["git", "rm", "--cached", file],
    };
  }
  if (ask("check-ignore", "-q") !== 1) return null;
  return { text: `Git would take ${file}, which signs in whoever has it: add it to .gitignore` };
}
