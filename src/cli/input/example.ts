import { isNameKind } from "../commands/completion/complete.ts";
import type { Invocation } from "../invocation.ts";

/** Examples in messages, with names of the reader's own data. */

/** The names that may stand first. One that looks like a flag would need `--`. */
const usable = (name: string): boolean => !name.startsWith("-");

/**
 * A command with names of the data in place of USERNAME, CLIENT_ID and the like, which are the names of arguments in capitals. Where the
 * data has no such name, or cannot be read, the placeholder stays.
 */
export const withNames = (cli: Invocation, words: readonly string[]): Promise<readonly string[]> =>
  Promise.all(
    words.map(async (word) => {
      const kind = word.toLowerCase();
      if (word === kind || !isNameKind(kind)) return word;
      const { namesOf } = await import("../commands/completion/complete-names.ts");
      return (await namesOf(cli, kind)).map(({ value }) => value).find(usable) ?? word;
    }),
  );
