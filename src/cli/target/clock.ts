import type { ClockState } from "../../core/base/clock.ts";
import type { Invocation } from "../invocation.ts";
import { memoryServersHere } from "./memory-servers.ts";
import type { Target } from "./target.ts";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { duration } from "../../text/time.ts";

/** The clock that times are shown by. Whoever moved it wants to see the times of tokens as their issuer does. */

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

/** Whether no server can be found here: then nothing more is loaded. */
function isNowhere({ url, store, data, env }: Invocation): boolean {
  if (url !== null || store !== null || existsSync(join(data, "lock.json"))) return false;
  return memoryServersHere(env).length === 0;
}

/** How long to wait for the issuer, in milliseconds. */
const timeoutMs = 1000;

/** The clock of the issuer `iss` or of one below it, on the server or the store of this command. */
async function clockOf(cli: Invocation, iss: string): Promise<ClockState | null> {
  const { findServer, findTarget } = await import("./target.ts");
  if (cli.url === null && cli.store === null && (await findServer(cli)) === null) return null;
  const { issuer, clock = null } = await (await findTarget(cli)).call("status", {});
  if (iss === issuer) return clock;
  const name = iss.startsWith(`${issuer}/i/`) ? iss.slice(`${issuer}/i/`.length) : null;
  if (name === null || cli.issuer !== null) return null;
  const { belowUrl } = await import("./issuer-flag.ts");
  return clockOf({ ...cli, issuer: name, url: cli.url === null ? null : belowUrl(cli.url, name) }, iss);
}

/** The moved clock of the issuer of a token; null where it shows the real time, and where the issuer is not within reach. */
export async function issuerClock(cli: Invocation, iss: unknown): Promise<ClockState | null> {
  if (typeof iss !== "string") return null;
  // Whatever keeps the clock from being read, such as a working folder that was deleted, the token can be read without it.
  const found = async (): Promise<ClockState | null> => (isNowhere(cli) ? null : clockOf(cli, iss));
  return Promise.race([found().catch(() => null), delay(timeoutMs, null, { ref: false })]);
}

/** "by the issuer's clock, 2 h ahead" */
export function byClock({ now, offset, frozen }: ClockState): string {
  const distance = offset === 0 ? [] : [`${duration(Math.abs(offset))} ${offset > 0 ? "ahead" : "behind"}`];
  return ["by the issuer's clock", ...(frozen ? [`frozen at ${now}`] : []), ...distance].join(", ");
}
