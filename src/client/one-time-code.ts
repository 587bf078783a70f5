import { setTimeout } from "node:timers/promises";

/** The one-time code of a user, once one is left. @param ask what the server says of it */
export async function codeOnceLeft(
  ask: () => Promise<{ readonly code: string | null; readonly availableIn: number }>,
): Promise<string> {
  for (;;) {
    const { code, availableIn } = await ask();
    if (code !== null) return code;
    await setTimeout(availableIn * 1000);
  }
}
