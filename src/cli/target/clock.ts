import type { ClockState } from "../../core/clock.ts";
import type { Invocation } from "../invocation.ts";
import type { Target } from "./target.ts";

/** The moved clock of what a command works on; null if it shows the real time. Without a server or a shared store it always does. */
export async function movedClock(cli: Invocation, target: Target): Promise<ClockState | null> {
  if (target.server === null && cli.store === null) return null;
  return (await target.call("status", {})).clock ?? null;
}

/** The time on the clock that the records have their times from, in milliseconds since 1970. */
export async function timeThere(cli: Invocation, target: Target): Promise<number> {
  const clock = await movedClock(cli, target);
  return clock === null ? cli.now() : Date.parse(clock.now);
}
