import { setTimeout as delay } from "node:timers/promises";
import { OperationError } from "../../core/base/errors.ts";
import type { Invocation } from "../invocation.ts";
import { answer, say, type Outcome } from "../output/print.ts";
import { issuerAt } from "../../serve/remote.ts";
import { serverAddress, noServer, startCommand } from "../target/target.ts";
import type { Declare } from "../act.ts";
import { seconds } from "../flags/flag-values.ts";
import { examples, Option } from "../commander.ts";

interface WaitFlags {
  /** Seconds; 0 looks only once. */
  readonly timeout: number;
}

/** The time between two looks, in milliseconds. */
const pause = 25;

/** `idp wait`: returns once the server answers. It needs no admin token. */
async function wait(cli: Invocation, { timeout }: WaitFlags): Promise<Outcome> {
  if (cli.url === null && cli.store !== null) throw await noServer(cli);
  const until = cli.now() + timeout * 1000;
  const where = cli.url === null ? `on ${cli.data}` : `at ${cli.url}`;
  for (let isFirst = true; ; isFirst = false) {
    const url = serverAddress(cli);
    const issuer = url === null ? null : await issuerAt(url, Math.max(1000, until - cli.now()));
    if (issuer !== null) return answer({ ready: true, url, issuer }, (shown) => `ready   ${shown.issuer}`);
    if (cli.now() + pause > until) break;
    if (isFirst && !cli.json) say(cli, `Waiting up to ${timeout} s for a server ${where}…`);
    await delay(pause);
  }
  throw new OperationError("no_server", `no server ${where} was ready within ${timeout} s`, {
    hint: { text: "Wait longer with --timeout SECONDS. To start a server", command: startCommand },
  });
}

/** Declares `idp wait`. */
export const declareWait: Declare = (command, { act }) => {
  command
    .addOption(new Option("--timeout <seconds>", "how long to wait; 0: check once").argParser(seconds(0)).default(30))
    .addHelpText("after", examples("idp wait", "idp wait --timeout 5 --url http://localhost:4370"))
    .action(act(wait));
};
