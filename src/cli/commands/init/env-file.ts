import { readTextFile, setIn, withoutBlock, writeBlock } from "../env/file.ts";
import { envFile } from "../env/choices.ts";
import { formatted, type Variables } from "../env/format.ts";

/**
 * Adds an app's variables. A name that the file already sets otherwise stays as it is.
 * @param own the variables of `idp env`, which `--write` keeps up to date @param env those of the client itself
 * @returns added: the names; different: lines that the app needs in place of those in the file
 */
export async function addToEnvFile(
  own: Variables,
  env: Variables,
): Promise<{ readonly added: readonly string[]; readonly different: readonly string[] }> {
  const before = await readTextFile(envFile);
  const others = withoutBlock(before ?? "").split(/\r?\n/);
  const set = setIn(others.join("\n"));
  const isSet = ([name]: Variables[number]): boolean => set(name);
  const added = [...own, ...env].filter((one) => !isSet(one));
  await writeBlock(envFile, before, formatted(added, "dotenv"));
  return {
    added: added.map(([name]) => name),
    different: own
      .filter(isSet)
      .map((variable) => formatted([variable], "dotenv"))
      .filter((line) => !others.includes(line)),
  };
}
