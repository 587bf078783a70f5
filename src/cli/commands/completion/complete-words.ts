import type { AnyCommand as Command } from "../../commander.ts";
import type { NameKind } from "../../input/name-kinds.ts";
import { complete, cursorAfter, type Candidate } from "./complete.ts";
import { invocationOf, type Invocation, type Terminal } from "../../invocation.ts";
import { globalFlags } from "../../flags/global.ts";

/**
 * `idp __complete WORD…`: what the scripts of `idp completion` call at each press of Tab. The last word is the one at the cursor. The
 * answer has a line for each candidate, with a tab before its description; or it is `:files`. This is not a command of the program: it
 * takes unfinished words as they are, and is silent whatever goes wrong.
 */

/** Names that need no quoting in any shell. Others are not suggested: each shell quotes differently. */
const harmless = /^[\p{L}\p{N}\p{M}_.,@+:/=-]+$/u;

/** Writes the answer to stdout. */
export async function completeWords(
  program: Command,
  words: readonly string[],
  terminal: Terminal,
  clock: Pick<Invocation, "now" | "takeSignals">,
): Promise<void> {
  const current = words.at(-1) ?? "";
  const cursor = cursorAfter(program, words.slice(0, -1));
  const completion = complete(cursor, current);
  if (completion.kind === "files") {
    terminal.stdout.write(":files\n");
    return;
  }
  const { candidates } =
    completion.kind === "candidates"
      ? completion
      : {
          candidates: (await names(typedInvocation(program, cursor.values, terminal, clock), completion.of)).map(
            ({ value, description }) => ({ value: completion.prefix + value, description }),
          ),
        };
  const fitting = candidates.filter(({ value }) => value.startsWith(current) && harmless.test(value));
  for (const { value, description } of fitting) {
    terminal.stdout.write(`${value}\t${description.replace(/[\p{C}\s]+/gu, " ")}\n`);
  }
}

/** The global flags that say where the names are. */
function typedInvocation(
  program: Command,
  values: ReadonlyMap<string, string>,
  terminal: Terminal,
  clock: Pick<Invocation, "now" | "takeSignals">,
): Invocation {
  const defaults = globalFlags(program);
  const { env } = terminal;
  const url = values.get("url") ?? env.IDP_URL;
  const adminTokenFile = values.get("admin-token-file");
  const issuer = values.get("issuer");
  return invocationOf(
    {
      ...defaults,
      data: values.get("data") ?? env.IDP_DATA ?? defaults.data,
      ...(url !== undefined && { url }),
      ...(adminTokenFile !== undefined && { adminTokenFile }),
      ...(issuer !== undefined && { issuer }),
    },
    terminal,
    clock,
  );
}

const names = async (cli: Invocation, kind: NameKind): Promise<readonly Candidate[]> =>
  (await import("./complete-names.ts")).namesOf(cli, kind);
