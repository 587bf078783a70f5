import { InvalidArgumentError, Option, type Command, type Flags } from "../commander.ts";
import { flagOf } from "../../core/base/hint.ts";
import { settingRows, type Form, type Settings } from "../../core/admin/settings/table.ts";
import { collect, collectList, notListed, seconds, wholeNumber } from "./flag-values.ts";

/** Flags of the commands that run a server: the fixtures, and the settings as core/admin/settings/table.ts has them. */

export const fixturesOption = [
  "--fixtures <path>",
  "a fixture file or folder, - for stdin, or the text itself ({…}); repeatable (env: IDP_FIXTURES)",
  collect,
] as const;

/** One of several words, separated by commas. */
const words =
  (known: readonly string[]) =>
  (value: string): readonly string[] =>
    value.split(",").map((word) => {
      if (known.includes(word.trim())) return word.trim();
      throw notListed(word, known, `It must be a list of ${known.join(", ")}, as in ${known.slice(0, 2).join(",")}.`);
    });

/** A word, or JSON. What it says is checked with the other settings. */
function wordOrJson(value: string): unknown {
  if (!value.startsWith("{")) return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new InvalidArgumentError('It must be the name of a vendor, or JSON like {"authorize":"/authorize"}.');
  }
}

function withForm(option: Option, form: Form): Option {
  switch (form.kind) {
    case "seconds":
      return option.argParser(seconds(form.min));
    case "choice":
      return option.choices(form.values);
    case "choices":
      return option.argParser(words(form.values));
    case "on-off":
      return option.choices(["on", "off"]);
    case "text":
      return option.argParser((value) => {
        if (!form.pattern.test(value)) throw notListed(value, form.words, `It ${form.rule}.`);
        return value;
      });
    case "texts":
      return option.argParser(collectList);
    case "own":
      return option.argParser(wordOrJson);
    case "count":
      return option.argParser(wholeNumber);
    case "switch":
      return option;
  }
}

/** The settings that have a flag, as flags. */
export function withSettings<A extends unknown[], F extends Flags, G extends Flags>(
  command: Command<A, F, G>,
): Command<A, F, G> {
  command.optionsGroup("Settings, which override the fixtures (idp seed --fields settings):");
  for (const [name, { flag, form, help, default: unset }] of settingRows) {
    if (flag === undefined) continue;
    const more = form.kind === "choice" ? ` (default: ${String(unset)})` : form.kind === "texts" ? "; repeatable" : "";
    command.addOption(withForm(new Option(`${flagOf(name)} ${flag}`.trim(), help + more), form));
  }
  return command;
}

/** What commander read for the flags that are settings, by the names of the settings. */
export const settingsOf = (flags: object): Partial<Settings> =>
  Object.fromEntries(
    settingRows.flatMap(([name, { flag }]) => {
      const value: unknown =
        flag === undefined ? undefined : Reflect.get(flags, new Option(flagOf(name)).attributeName());
      return value === undefined ? [] : [[name, value]];
    }),
  );
