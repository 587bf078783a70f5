import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A Python program that a test talks to, one line at a time. */
export function startPython(script: string, args: readonly string[]) {
  const python = spawn("python3", [script, ...args]);
  let complaints = "";
  python.stderr.on("data", (text: Buffer) => (complaints += text.toString()));
  const ended = once(python, "close");
  const lines = createInterface(python.stdout)[Symbol.asyncIterator]();
  return {
    /** The next line that it prints. @throws {Error} with its stderr, where it ends first */
    async nextLine(): Promise<string> {
      const line = await lines.next();
      if (line.done === true) throw new Error(complaints);
      return line.value;
    },
    write: (line: string) => python.stdin.write(`${line}\n`),
    /** Closes its standard input. @returns its exit code and signal */
    end(): Promise<unknown[]> {
      python.stdin.end();
      return ended;
    },
  };
}
