import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { ClockState } from "../../../core/clock.ts";
import { duration } from "../../../core/time-words.ts";
import type { Invocation } from "../../invocation.ts";

/** The clock of the issuer of a token. Whoever moved it wants to see the times of its tokens as the issuer does. */

/** How long to wait for the issuer, in milliseconds. */
const timeoutMs = 1000;

/** The clock of the issuer `iss` or of one below it, on the server or the store of this command. */
async function clockOf(cli: Invocation, iss: string): Promise<ClockState | null> {
  const { findServer, findTarget } = await import("../../target/target.ts");
  if (cli.url === null && cli.store === null && (await findServer(cli)) === null) return null;
  const { issuer, clock = null } = await (await findTarget(cli)).call("status", {});
  if (iss === issuer) return clock;
  const name = iss.startsWith(`${issuer}/i/`) ? iss.slice(`${issuer}/i/`.length) : null;
  if (name === null || cli.issuer !== null) return null;
  const { belowUrl } = await import("../../target/issuer-flag.ts");
  return clockOf({ ...cli, issuer: name, url: cli.url === null ? null : belowUrl(cli.url, name) }, iss);
}

/** The moved clock of the issuer of a token; null where it shows the real time, and where the issuer is not within reach. */
export async function issuerClock(cli: Invocation, iss: unknown): Promise<ClockState | null> {
  const isNowhere = cli.url === null && cli.store === null && !existsSync(join(cli.data, "lock.json"));
  if (isNowhere || typeof iss !== "string") return null;
  return Promise.race([clockOf(cli, iss).catch(() => null), delay(timeoutMs, null, { ref: false })]);
}

/** "by the issuer's clock, 2 h ahead" */
export function byClock({ now, offset, frozen }: ClockState): string {
  const distance = offset === 0 ? [] : [`${duration(Math.abs(offset))} ${offset > 0 ? "ahead" : "behind"}`];
  return ["by the issuer's clock", ...(frozen ? [`frozen at ${now}`] : []), ...distance].join(", ");
}
