import { randomInt } from "node:crypto";
import { connect } from "node:net";

/** Each process that runs tests has ports of its own, and takes each of them once: of two that ask at the same time, none is given to both. */
const [first, size] = [20_000 + (Number(process.env["VITEST_POOL_ID"] ?? 0) % 10) * 1200, 1200];
let next = randomInt(size);

/**
 * A port that nobody listens on, and that no other test is given by the system meanwhile: it is below those that systems hand out by
 * themselves (32768 and up on Linux, 49152 on others), to servers on port 0 and to outgoing connections alike. One of those that was free a
 * moment ago may be taken the next, even by a connection that has ended (TIME_WAIT). As flags and variables have it.
 */
export async function freePort(): Promise<string> {
  next = (next + 1) % size;
  const port = first + next;
  return (await isFree(port)) ? String(port) : freePort();
}

/**
 * Whether nobody listens on it. Asked by connecting: a port that was listened on to find out may still be taken a moment after it was
 * closed, by a child process that was being forked meanwhile and has all that was open until it runs its own program.
 */
async function isFree(port: number): Promise<boolean> {
  const answers = await Promise.all(["127.0.0.1", "::1"].map((host) => isAnswered(port, host)));
  return !answers.includes(true);
}

const isAnswered = (port: number, host: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, host);
    socket.on("error", () => {
      resolve(false);
    });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
