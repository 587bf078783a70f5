import type { AnyCommand as Command } from "../commander.ts";
import { beforeNames, quotedLine, takesIssuer, withFlags, type CommandLine } from "../../core/hint.ts";
import { issuerName } from "../../core/issuers/issuer-view.ts";
import { redacted } from "../../text/redacted.ts";
import { wordsWithoutPassword } from "../../store/postgres/address.ts";
import { type Invocation } from "../invocation.ts";
import { globalFlags, type GlobalFlags } from "../flags/global.ts";

/** Commands in hints, written as the reader has to type them. */

/** The commands for which neither a data folder nor a server matters. */
const withoutTarget: readonly string[] = ["init", "exec", "help", "completion", "token decode", "token verify"];

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
  const [, first = "", second = ""] = words;
  if (withoutTarget.includes(first) || withoutTarget.includes(`${first} ${second}`)) return [];
  // It starts a server, so it takes data but no server.
  if (first === "start") return ["--data", "--store"].includes(target[0] ?? "") ? target.slice(0, 2) : [];
  const at = target.indexOf("--issuer");
  return at === -1 || takesIssuer(words) ? target : target.toSpliced(at, 2);
}

/** Writes a command for the same data or server, and as `npx dev-idp …` if npx or a script of the clone runs this one, because then no `idp` is on the PATH. */
export const commandLine =
  ({
    target,
    env,
    platform,
  }: Pick<Invocation, "target" | "env"> & { readonly platform?: NodeJS.Platform }): CommandLine =>
  (words, issuer = null) => {
    if (words[0] !== "idp") return quotedLine(words, platform);
    const place = issuer === null ? target : [...target, "--issuer", issuer];
    const names = ["--data", "--store", "--url", "--help"].some((flag) => hasFlag(words, flag))
      ? []
      : targetOf(words, place);
    // A script of npm has the commands of its own packages on the PATH; the shell of the reader does not.
    const byNpm = env.npm_command === "exec" || env["npm_package_name"] === "dev-idp";
    const program = byNpm ? ["npx", "dev-idp"] : ["idp"];
    return quotedLine([...program, ...withFlags(words.slice(1), names)], platform);
  };
