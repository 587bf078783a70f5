import type { Invocation } from "./invocation.ts";
import { say } from "./print.ts";

/** How often is looked, in milliseconds. */
const everyMs = 500;

/** A command of which `idp` is the last, and that waits for it: nothing after it, and no `&`. */
const waitsForIdp = /(^|&&|\|\||;)\s*(\w+=\S*\s+)*(npx\s+|node\s+)?["']?([^\s"'&|;]*\/)?idp(\.js)?["']?(\s[^&|;]*)?$/;

/**
 * npm and npx run a command in a shell, and end that shell when they are told to end: it hands the signal on to nobody, and a server
 * would go on for ever and keep its port. So a shell that would have waited for `idp`, and is gone, was ended.
 * @param end is called then
 */
export function endWithShellOfNpm(cli: Invocation, end: () => void): void {
  if (!waitsForIdp.test(cli.env["npm_lifecycle_script"] ?? "")) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    say(cli, "The npm that ran this has ended: so does idp.");
    end();
  }, everyMs);
  timer.unref();
}
