import { constants } from "node:os";
import type { StartCommand } from "../../../check/frame/process/app-process.ts";
import type { Subject } from "../../../check/frame/subject.ts";
import type { Host, RunningServer } from "../../../check/frame/host.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { issuerAt } from "../../../serve/remote.ts";
import { distrustOfFile } from "../../../store/json/trust.ts";
import { isWebUrl } from "../../../text/url.ts";
import { fixturePaths, withStdin } from "../../flags/fixtures.ts";
import { foreignCommand, ownWords, whyNotRun, type TypedCommand } from "../../input/foreign-command.ts";
import type { Invocation } from "../../invocation.ts";
import { cannotBeWritten, putFile } from "../../output/put-file.ts";
import { serverOfUrl } from "../../target/server-of-url.ts";
import { findServer, startHint } from "../../target/target.ts";
import { likelyClient, samlClientAmong, samlVariables, valuesOf } from "../env/app-client.ts";
import type { NameFlags } from "../env/app-variables.ts";
import { environmentOf, forChildren } from "../exec/exec.ts";
import { projectOf } from "../init/project.ts";
import { endWithShellOfNpm } from "../start/parent-process.ts";
import { screenOf } from "./screen.ts";

/** What a check needs of the command line. */

/** The flags of checks that other commands have, too. */
export interface OtherFlags extends NameFlags {
  readonly fixtures?: readonly string[];
  readonly client?: string;
}

export const hostOf = (cli: Invocation, flags: OtherFlags): Host => ({
  ...{ env: cli.env, childEnv: forChildren(cli.env), cwd: process.cwd(), now: cli.now, screen: screenOf(cli) },
  onSignal(end) {
    cli.takeSignals((signal) => {
      end(128 + constants.signals[signal]);
    });
    endWithShellOfNpm(cli, () => {
      end(128 + constants.signals.SIGTERM);
    });
  },
  fixtures: () => withStdin(cli, fixturePaths(cli, flags)),
  environmentOf: (idp, client) => environmentOf(cli, idp, client === undefined ? flags : { ...flags, client }),
  runningServer: (takesUrl) => requireServer(cli, takesUrl),
  ...{ likelyClient, valuesOf, samlVariables, projectIn: projectOf, distrustOf: distrustOfFile },
  samlClient: (clients) => samlClientAmong(clients, undefined),
  notRun(program, error) {
    const { message, hint } = whyNotRun(program, error);
    return new OperationError("no_server", message, { hint });
  },
  async write(flag, file, text) {
    try {
      await putFile(file, text, 0o644);
    } catch (error) {
      throw cannotBeWritten(`${flag} ${file}`, error);
    }
  },
});

/** How many milliseconds a server has to say which issuer it is. */
const timeoutMs = 5000;

/** The running server. @throws {OperationError} no_server, conflict */
async function requireServer(cli: Invocation, takesUrl: boolean): Promise<RunningServer> {
  const word = takesUrl ? "IDP_URL=" : "--url ";
  const server = cli.url === null ? await findServer(cli, word) : serverOfUrl(cli, cli.url);
  const issuer = server === null ? null : await issuerAt(server.url, timeoutMs);
  if (server !== null && issuer !== null) return { server, issuer };
  const place = server === null ? `on ${cli.data}` : `at ${server.url}`;
  throw new OperationError("no_server", `no server answers ${place}`, {
    hint: await startHint(
      cli,
      "To run the check with its own server, add -- and the command that starts what is checked. ",
      word,
    ),
  });
}

/** The command after `--`; null without one. @throws {OperationError} usage */
export function commandOf(typed: TypedCommand, { it, takesUrl }: Subject): StartCommand | null {
  const { command, stray } = foreignCommand(typed);
  const [program = "", ...args] = command;
  if (stray.length > 0 || (typed.words.includes("--") && program === "")) {
    const own = ownWords(typed.words);
    const flags = own.filter((word) => !stray.includes(word));
    const hasUrl = own.some((word) => word === "--url" || word.startsWith("--url="));
    const url = takesUrl === true && !hasUrl ? stray.find(isWebUrl) : undefined;
    if (url !== undefined) {
      const rest = program === "" ? stray.filter((word) => word !== url) : command;
      const more = rest.length === 0 ? [] : ["--", ...rest];
      throw new OperationError("usage", `${url} is an address: name it with --url`, {
        hint: { text: "Type", command: ["idp", ...flags, "--url", url, ...more] },
      });
    }
    const example = [program === "" ? stray : command, ["npm", "start"]].find((one) => one.length > 0) ?? [];
    throw new OperationError("usage", `the command that starts ${it} must follow --`, {
      hint: { text: "Put -- before it", command: ["idp", ...flags, "--", ...example] },
    });
  }
  return program === "" ? null : [program, ...args];
}
