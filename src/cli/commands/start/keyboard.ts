import { readFileSync } from "node:fs";
import type { Idp } from "../../../index.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { asTyped } from "../../output/command-line.ts";
import { answer, print, printFailure, say } from "../../output/print.ts";
import { loginClient } from "../init/app-types.ts";
import { openWithKey } from "../../output/open-browser.ts";

/** Keys of `idp start` on a terminal: each is pressed alone, without Enter. */

const help = [
  "o  open the inspector in a browser",
  "l  sign in, as an app does (idp login)",
  "r  reset to the fixtures",
  "c  clear the screen",
  "h  show this help",
  "q  quit",
].join("\n");

/** Whether this process is in the background, as /proc says on Linux. Changing the terminal from there would stop the process. */
function isInBackground(): boolean {
  try {
    const [, , group, , , terminalGroup] = readFileSync("/proc/self/stat", "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return group !== terminalGroup;
  } catch {
    return false;
  }
}

/** How long a login waits for the person, in seconds. */
const timeoutSeconds = 120;

async function signIn(cli: Invocation, idp: Idp): Promise<void> {
  const { login } = await import("../login/login.ts");
  // The server may be in memory, and is then found only by its address.
  const env = { ...cli.env, IDP_ADMIN_TOKEN: idp.adminToken };
  const own = { ...cli, url: idp.issuer, adminTokenFile: null, env };
  print(
    own,
    await login(own, { client: loginClient, flow: "code", timeout: timeoutSeconds, browser: true, withServer: true }),
  );
}

/**
 * Listens for keys until the returned function is called, which restores the terminal. Returns null without a terminal, and with `--quiet`.
 */
export function listenForKeys(cli: Invocation, idp: Idp, stop: () => void): (() => void) | null {
  if (!cli.interactive || !cli.stdout.isTTY || cli.quiet || isInBackground()) return null;
  const { stdin, stdout } = cli;
  let mayReset = false;
  let signingIn = false;

  const actions: Readonly<Record<string, () => Promise<unknown> | undefined>> = {
    o: async () => {
      const { url } = await idp.call("inspector.open", {});
      print(
        cli,
        answer({ url }, (shown) => shown.url),
      );
      await openWithKey(cli, url);
    },
    l: () => {
      if (signingIn) return undefined;
      signingIn = true;
      return signIn(cli, idp).finally(() => {
        signingIn = false;
      });
    },
    r: () => {
      if (mayReset) return idp.reset().then(() => say(cli, "Reset to the fixtures."));
      say(cli, "All changes, sessions, grants and tokens are discarded. Press r again to reset.");
      return undefined;
    },
    c: () => {
      stdout.write("\u001b[2J\u001b[3J\u001b[H");
      return undefined;
    },
    h: () => {
      stdout.write(`${asTyped(help, cli)}\n`);
      return undefined;
    },
    "\r": () => {
      stdout.write("\n");
      return undefined;
    },
  };

  const onData = (typed: Buffer): void => {
    for (const key of typed.toString()) {
      // A raw terminal sends Ctrl+C and Ctrl+D as characters.
      if (["q", "\u0003", "\u0004"].includes(key)) {
        stop();
        return;
      }
      actions[key]?.()?.catch((error: unknown) => {
        printFailure(cli, failureOf(error), null);
      });
      mayReset = key === "r" && !mayReset;
    }
  };
  stdin.setRawMode(true);
  stdin.on("data", onData);
  stdout.write("  Press h for the keys, q to quit.\n\n");
  return () => {
    stdin.off("data", onData);
    stdin.setRawMode(false);
    stdin.pause();
  };
}
