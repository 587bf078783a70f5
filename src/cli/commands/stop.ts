import { setTimeout as delay } from "node:timers/promises";
import { OperationError } from "../../core/base/errors.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { callServer, type Server } from "../../serve/remote.ts";
import { findTarget, findServer, hintElsewhere, noServer } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

/** How long the server takes to end, in milliseconds; open requests are answered first. */
const timeoutMs = 20_000;

/** `idp stop`: ends the server as Ctrl+C would, and returns when it is gone. */
async function stop(cli: Invocation): Promise<Outcome> {
  if (cli.issuer !== null) {
    throw new OperationError("usage", "idp stop ends the server with all of its issuers", {
      hint: { text: "Leave --issuer out. To remove one", command: ["idp", "issuers", "remove", cli.issuer] },
    });
  }
  const target = await findTarget(cli);
  const { server } = target;
  if (server === null) {
    if (cli.store !== null) throw await noServer(cli);
    const hint = await hintElsewhere(cli);
    const there = `no server runs on ${cli.data}: there is nothing to stop`;
    throw new OperationError("no_server", there, hint === null ? {} : { hint });
  }
  const { pid } = await target.call("stop", {});
  const isGone = async (): Promise<boolean> =>
    cli.url === null ? (await findServer(cli))?.pid !== pid : refuses(server);
  const { url } = server;
  for (let waited = 0; !(await isGone()); waited += 20) {
    if (waited >= timeoutMs) throw new OperationError("conflict", `process ${pid} has not ended yet`);
    await delay(20);
  }
  return answer({ stopped: true, url, pid }, (shown) => `Stopped ${shown.url} (pid ${shown.pid}).`);
}

/** Whether the server no longer answers. */
const refuses = (server: Server): Promise<boolean> =>
  callServer(server, "status", {}).then(
    () => false,
    (error: unknown) => error instanceof OperationError && error.code === "no_server",
  );

/** Declares `idp stop`. */
export const declareStop: Declare = (command, { act }) => {
  command.addHelpText("after", examples("idp stop", "idp stop --data .idp-other")).action(act(stop));
};
