import { isNameKind } from "./name-kinds.ts";
import type { Invocation } from "../invocation.ts";
import { redacted } from "../../text/redacted.ts";

/** Examples in messages, with names of the reader's own data. */

/** The names that can be typed as they are printed: one that looks like a flag would need `--`, and one that looks like a secret is not shown. */
const usable = (name: string): boolean => !name.startsWith("-") && redacted(name) === name;

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
