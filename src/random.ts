import { randomFillSync } from "node:crypto";

/** Random bytes, fetched in one system call, which costs as much as a hundred draws from here. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** Random bytes of the system, each handed out once. @returns base64url */
export function randomText(bytes: number): string {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const text = drawn.toString("base64url", used, used + bytes);
  // Erases bytes that were handed out.
  drawn.fill(0, used, used + bytes);
  used += bytes;
  return text;
}
