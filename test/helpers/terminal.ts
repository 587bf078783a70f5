import { spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { bin, environment } from "./cli.ts";

/** A real terminal: `script` of util-linux makes one. */

export interface OnTerminal {
  /** Types keys. */
  readonly type: (keys: string) => void;
  /** Resolves once the screen has shown the text. */
  readonly shown: (text: string) => Promise<void>;
  readonly ended: Promise<number | null>;
  /** All that was written to the terminal, without its escape sequences. */
  readonly screen: () => string;
  /** The same with them. */
  readonly written: () => string;
}

/** Runs `idp` on a separate terminal. @param words a line of a shell @param columns of the terminal; absent: it has no size */
export function onTerminal(
  words: string,
  cwd: string,
  env: Readonly<Record<string, string>> = {},
  columns?: number,
): OnTerminal {
  // In the shell's place, which else might meet Ctrl+C itself and tell 130: dash does, bash does not.
  const size = columns === undefined ? "" : `stty cols ${columns} && `;
  const command = `${size}exec "${process.execPath}" "${bin}" ${words}`;
  const child = spawn("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    cwd,
    env: environment({ TERM: "xterm", SHELL: "/bin/sh", ...env }),
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let written = "";
  // eslint-disable-next-line no-control-regex -- escape sequences of the terminal
  const screen = (): string => written.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "");
  child.stdout.setEncoding("utf8").on("data", (text: string) => (written += text));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  return {
    type: (keys) => child.stdin.write(keys),
    shown: (text) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (screen().includes(text)) resolve();
        };
        child.stdout.on("data", look);
        look();
        void ended.then(() => {
          reject(new Error(`it ended before it showed "${text}": ${screen()}`));
        });
      }),
    ended,
    screen,
    written: () => written,
  };
}

export const down = "\u001b[B";
export const enter = "\r";
export const controlC = "\u0003";
export const controlD = "\u0004";
