import type { Invocation } from "../../invocation.ts";
import { say } from "../../output/print.ts";

const checkEveryMs = 500;

/**
 * npm and npx run a command in a shell. When npm is ended, it ends that shell, but the shell does not pass the signal on: the server would
 * run forever and keep its port. So `idp` ends when the shell that npm started it in is gone.
 * A script with a single `&` may leave `idp` in the background on purpose.
 * @param end called when the shell is gone
 */
export function endWithShellOfNpm(cli: Invocation, end: () => void): void {
  const script = cli.env["npm_lifecycle_script"] ?? "";
  if (!script.includes("idp") || script.replaceAll("&&", "").includes("&")) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    say(cli, "npm has ended, so idp ends too.");
    end();
  }, checkEveryMs);
  timer.unref();
}
