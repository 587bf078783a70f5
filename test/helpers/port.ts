import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * A port that nobody listens on, and that no other test is given by the system meanwhile: it is below those that systems hand out by
 * themselves (32768 and up on Linux, 49152 on others), to servers on port 0 and to outgoing connections alike. One of those that was free a
 * moment ago may be taken the next, even by a connection that has ended (TIME_WAIT). As flags and variables have it.
 */
export async function freePort(): Promise<string> {
  const port = randomInt(20_000, 32_000);
  return (await isFree(port)) ? String(port) : freePort();
}

/** Whether it can be listened on at every address. */
const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.on("error", () => {
      resolve(false);
    });
    server.listen(port, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
