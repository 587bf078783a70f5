import { existsSync } from "node:fs";
import { join } from "node:path";
import { isSea } from "node:sea";
import type { AnyCommand as Command } from "../commander.ts";
import { beforeNames, forShell, quotedLine, takesIssuer, withFlags, type CommandLine } from "../../core/base/hint.ts";
import { issuerName } from "../../core/base/identifiers.ts";
import { redacted } from "../../text/redacted.ts";
import { wordsWithoutPassword } from "../../store/postgres/address.ts";
import { type Invocation } from "../invocation.ts";
import { commandNames, hasTarget } from "../nouns.ts";
import { globalFlags, type GlobalFlags } from "../flags/global.ts";

/** Commands in hints, written as the reader has to type them. */

/**
 * The flags that named the data or the server on this command line. The environment also holds for the next command, so it is left out.
 * @returns `["--data", ".idp-2"]`
 */
export function typedTarget(program: Command): readonly string[] {
  const typed = (name: keyof GlobalFlags, flag: string): readonly string[] =>
    program.getOptionValueSource(name) === "cli"
      ? [flag, ...wordsWithoutPassword([String(globalFlags(program)[name])]).map(redacted)]
      : [];
  const server = typed("url", "--url");
  // A server goes before a folder.
  const data = [...typed("store", "--store"), ...typed("data", "--data")];
  const { issuer } = globalFlags(program);
  return [
    ...(server.length > 0 ? server : data),
    ...typed("adminTokenFile", "--admin-token-file"),
    ...(issuer !== undefined && issuerName.test(issuer) ? ["--issuer", issuer] : []),
  ];
}

const hasFlag = (words: readonly string[], flag: string): boolean =>
  beforeNames(words).some((word) => word === flag || word.startsWith(`${flag}=`));

/** The flags that a command needs to work on the same data or server. */
function targetOf(words: readonly string[], target: readonly string[]): readonly string[] {
  if (!hasTarget(words)) return [];
  const [, first = ""] = words;
  // It starts a server, so it takes data but no server.
  if (first === "start") return ["--data", "--store"].includes(target[0] ?? "") ? target.slice(0, 2) : [];
  const at = target.indexOf("--issuer");
  return at === -1 || takesIssuer(words) ? target : target.toSpliced(at, 2);
}

type Shell = Pick<Invocation, "env"> & { readonly platform?: NodeJS.Platform | undefined };

/** Whether the reader's shell finds `idp`. What npm puts on the PATH of a script is not on that of the shell. */
function isOnPath(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const path = env.PATH ?? env["Path"];
  const isScript = env["npm_lifecycle_event"] !== undefined;
  if (path === undefined) return true;
  const names = platform === "win32" ? ["idp.cmd", "idp.exe"] : ["idp"];
  return path
    .split(platform === "win32" ? ";" : ":")
    .filter((folder) => folder !== "" && !(isScript && /[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder)))
    .some((folder) => names.some((name) => existsSync(join(folder, name))));
}

/** The words that call `idp` in the reader's shell: `idp`, `npx dev-idp`, or the path of the executable that has Node.js in it. */
function programOf({ env, platform = process.platform }: Shell): readonly string[] {
  const byNpm = env.npm_command === "exec" || env["npm_package_name"] === "dev-idp";
  if (!byNpm && isOnPath(env, platform)) return ["idp"];
  return isSea() ? [process.execPath] : ["npx", "dev-idp"];
}

/** A sentence names a command where a name of one follows: "`idp` listens" does not. */
const commandInText = new RegExp(
  String.raw`(?<![\w./@-])idp(?=\s+(?:(?:${commandNames.join("|")})(?![\w=])|--|\[))`,
  "g",
);

/** A text with the commands in it as the reader has to type them: help, and comments of files. */
export const asTyped = (text: string, shell: Shell): string => {
  const [program = "", ...more] = programOf(shell);
  return program === "idp"
    ? text
    : text.replaceAll(commandInText, () => quotedLine([program, ...more], shell.platform));
};

/** Writes a command for the same data or server, as the reader's shell finds it. */
export const commandLine =
  ({ target, env, platform }: Pick<Invocation, "target"> & Shell): CommandLine =>
  (words, issuer = null, { command } = forShell(platform)) => {
    if (words[0] !== "idp") return command(words);
    const place = issuer === null ? target : [...target, "--issuer", issuer];
    const names = ["--data", "--store", "--url", "--help"].some((flag) => hasFlag(words, flag))
      ? []
      : targetOf(words, place);
    return command([...programOf({ env, platform }), ...withFlags(words.slice(1), names)]);
  };
