/** How an app learns that somebody left, and how long it takes. */

/** How an app learns that somebody left. `silence`: it does not. */
export const signalNames = ["scim", "backchannel-logout", "revocation", "silence", "all"] as const;
export type Signal = (typeof signalNames)[number];

/** Seconds, as a person writes them: "5m". */
export function lasting(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds % 3600 === 0 && seconds > 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 && seconds > 0 ? `${seconds / 60}m` : `${seconds}s`;
}
