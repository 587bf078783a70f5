import { randomFillSync } from "node:crypto";

/** Asked for in one go: a call costs as much as a hundred draws. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** Random bytes of the system, each handed out once. @returns base64url */
export function randomText(bytes: number): string {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const text = drawn.toString("base64url", used, used + bytes);
  // What was handed out is nobody else's to find here.
  drawn.fill(0, used, used + bytes);
  used += bytes;
  return text;
}
