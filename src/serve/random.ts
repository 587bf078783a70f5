import { randomFillSync } from "node:crypto";

/** Random bytes from one system call, which costs as much as a hundred draws from here. */
const drawn = Buffer.alloc(4096);
let used = drawn.length;

/** Random bytes of the system, each used only once. @returns base64url */
export function randomText(bytes: number): string {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  const text = drawn.toString("base64url", used, used + bytes);
  // Erases used bytes.
  drawn.fill(0, used, used + bytes);
  used += bytes;
  return text;
}

/** A word of small letters and digits that nobody has. @param random as {@link randomText} */
export const randomWord = (random = randomText): string =>
  random(9)
    .toLowerCase()
    .replaceAll(/[^a-z\d]/g, "x");
