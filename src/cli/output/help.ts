import {
  examplesOf,
  Help,
  type AnyCommand as Command,
  type Argument,
  type HelpConfiguration,
  type Option,
} from "../commander.ts";
import { ownWords } from "../input/foreign-command.ts";

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

/** Only what is printed is shorter: completion and "Did you mean" know everything. @param words those after `idp` */
export function helpConfiguration(words: readonly string[]): HelpConfiguration {
  const all = new Help();
  const isShown = (command: Command, name: string | undefined): boolean =>
    wantsAll(words) || !rareIn(command).includes(name ?? "");
  return {
    sortSubcommands: false,
    formatHelp(command, helper) {
      const shown = Object.assign(Object.create(helper) as Help, {
        visibleOptions: () => all.visibleOptions(command).filter(({ long }) => isShown(command, long)),
        visibleCommands: () => all.visibleCommands(command).filter((one) => isShown(command, one.name())),
      });
      return all.formatHelp(command, shown);
    },
  };
}

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
