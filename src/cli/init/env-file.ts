import { readTextFile, withoutBlock, writeBlock } from "../env/file.ts";
import { formatted, type Variables } from "../env/format.ts";

/** The file of variables that frameworks read in development. It is in no repository. */
export const envFile = ".env.local";

/**
 * Adds an app's variables. A name that the file already sets otherwise stays as it is.
 * @param own the variables of `idp env`, which `--write` keeps up to date @param more others, which are set once
 * @returns added: the names; different: lines that the app needs in place of those in the file
 */
export async function addToEnvFile(
  own: Variables,
  more: Variables,
): Promise<{ readonly added: readonly string[]; readonly different: readonly string[] }> {
  const before = await readTextFile(envFile);
  const others = withoutBlock(before ?? "").split(/\r?\n/);
  const isSet = ([name]: Variables[number]): boolean =>
    others.some((line) => new RegExp(`^\\s*(export\\s+)?${name}\\s*=`).test(line));
  const [ownNew, moreNew] = [own.filter((one) => !isSet(one)), more.filter((one) => !isSet(one))];
  const lines = (variables: Variables): string => (variables.length === 0 ? "" : `${formatted(variables, "dotenv")}\n`);
  await writeBlock(envFile, before, formatted(ownNew, "dotenv"), lines(moreNew));
  return {
    added: [...ownNew, ...moreNew].map(([name]) => name),
    different: own
      .filter(isSet)
      .map((variable) => formatted([variable], "dotenv"))
      .filter((line) => !others.includes(line)),
  };
}
