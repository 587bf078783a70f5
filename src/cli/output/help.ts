import {
  examplesOf,
  Help,
  type AnyCommand as Command,
  type Argument,
  type HelpConfiguration,
  type Option,
} from "../commander.ts";
import { ownWords } from "../input/foreign-command.ts";
import { cells, wrap } from "./table.ts";

/** What help shows: what a working day needs, and with `--all` everything; with `--json` one document. */

/** What a working day does not need, at root and for the commands that run a server. */
const rare: Readonly<Record<string, readonly string[]>> = {
  idp: [
    ...["--verbose", "--no-input", "--color", "--store", "--admin-token-file", "--issuer"],
    ...["issuer", "diff", "import", "scopes", "scim", "issuers", "sessions", "keys", "acts", "version"],
  ],
  start: [
    ...["--cert", "--key", "--trusted-proxy", "--dynamic-registration", "--templates", "--ready-file"],
    ...["--control-tokens", "--until-stdin-closes"],
  ],
  settings: [
    ...["--factors", "--access-token-typ", "--dpop-nonce", "--userinfo-format", "--id-token-claims", "--code-ttl"],
    ...[
      "--refresh-rotation",
      "--refresh-grace",
      "--refresh-requires-offline-access",
      "--http-redirect-hosts",
      "--any-loopback-port",
    ],
    ...["--registration-loopback", "--client-metadata-documents", "--client-metadata-loopback"],
  ],
};

function rareIn(command: Command): readonly string[] {
  const { idp = [], start = [], settings = [] } = rare;
  if (command.parent === null) return idp;
  return command.name() === "start" ? [...start, ...settings] : command.name() === "exec" ? settings : [];
}

/** Whether all of it is asked for. */
const wantsAll = (words: readonly string[]): boolean => ownWords(words).includes("--all");

/**
 * Only what is printed is shorter: completion and "Did you mean" know everything.
 * @param words those after `idp`
 * @param typed the text with commands as the reader types them, which may be longer: `npx dev-idp`
 */
export function helpConfiguration(words: readonly string[], typed: (text: string) => string): HelpConfiguration {
  const all = new Help();
  const isShown = (command: Command, name: string | undefined): boolean =>
    wantsAll(words) || !rareIn(command).includes(name ?? "");
  return {
    sortSubcommands: false,
    formatHelp(command, helper) {
      const shown = Object.assign(Object.create(helper) as Help, {
        visibleOptions: () => all.visibleOptions(command).filter(({ long }) => isShown(command, long)),
        visibleCommands: () => all.visibleCommands(command).filter((one) => isShown(command, one.name())),
        commandDescription: (one: Command) => typed(all.commandDescription(one)),
        subcommandDescription: (one: Command) => typed(all.subcommandDescription(one)),
        optionDescription: (one: Option) => typed(all.optionDescription(one)),
        argumentDescription: (one: Argument) => typed(all.argumentDescription(one)),
      });
      return all.formatHelp(command, shown);
    },
  };
}

/** Paragraphs that are too wide, as where `idp` became `npx dev-idp`, in lines that fit. Lists, which are indented, stay. */
export const wrapped = (text: string, width: number): string =>
  text.replaceAll(/(?<=^|\n)\S.*(?:\n\S.*)*/g, (paragraph) =>
    paragraph.split("\n").every((line) => cells(line) <= width)
      ? paragraph
      : wrap(paragraph.replaceAll("\n", " "), width, ""),
  );

/** The line that says that there is more; none where all is shown. */
export function moreHelp(command: Command, words: readonly string[]): string {
  if (wantsAll(words) || rareIn(command).length === 0) return "";
  const name = command.parent === null ? "idp" : `idp ${command.name()}`;
  return `All ${command.parent === null ? "commands and flags" : "flags"}: ${name} --help --all\n`;
}

/** Where a newcomer begins. */
export const getStarted = `Get started:
  idp init                connect your app: fixtures, .env.local, code
  idp start               run the server
  idp exec -- npm test    run your tests with a server of their own
`;

const flagOf = (option: Option) => ({
  flags: option.flags,
  description: option.description,
  ...(option.argChoices !== undefined && { choices: option.argChoices }),
  ...(option.defaultValue !== undefined && { default: option.defaultValue as unknown }),
  ...(option.envVar !== undefined && { env: option.envVar }),
});

const argumentOf = (argument: Argument) => ({
  name: argument.name(),
  description: argument.description,
  required: argument.required,
  variadic: argument.variadic,
  ...(argument.argChoices !== undefined && { choices: argument.argChoices }),
});

/** The help of a command as a document, with everything that there is. @param path `["idp", "users", "list"]` */
export const helpDocument = (command: Command, path: readonly string[]) => ({
  command: path.join(" "),
  description: command.description(),
  usage: `${path.join(" ")} ${command.usage()}`,
  arguments: command.registeredArguments.map(argumentOf),
  flags: command.options.map(flagOf),
  commands: command.commands.map((one) => ({ name: one.name(), description: one.description() })),
  examples: examplesOf(command),
});
