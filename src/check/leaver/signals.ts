/*
 * check/leaver: `idp check leaver`. It measures how long an app lets somebody in who left.
 *
 * For each signal a user signs in in two browsers and leaves by that signal alone: measure.ts asks the app until it refuses. run.ts starts all
 * signals with the first case; cases.ts says what each result means. cli/commands/check/leaver/control.ts sends them.
 */

/** How an app learns that somebody left. `silence`: it does not. */
export const signalNames = ["scim", "backchannel-logout", "revocation", "silence", "all"] as const;
export type Signal = (typeof signalNames)[number];

/** The requests to idp that may ask about a token. */
interface Recorded {
  readonly id: string;
  readonly endpoint: string;
}

/** What idp does for the check. */
export interface LeaverControl {
  /** Why a signal reaches nobody: the client has no address for it; null: it has one. */
  missing(signal: Signal): string | null;
  /** A user who may sign in, pushed to the app where it has SCIM: a new one, or the one of `--user`. @returns the username */
  enter(): Promise<string>;
  /** Pushes a user again, whom some apps know only after a sign-in. */
  signedIn(username: string): Promise<void>;
  /** An access token for the API. */
  token(username: string): Promise<string>;
  /** @returns why the app did not take the signal, or null */
  send(signal: Signal, username: string): Promise<string | null>;
  /** Makes a user active again, here and in the app. */
  undo(signal: Signal, username: string): Promise<void>;
  /** The id of a user in the app; null: it has none, or no SCIM. */
  scimId(username: string): Promise<string | null>;
  /** A user who has a group in the claim `groups`, pushed to the app where it has SCIM. @param isAnother not the one of `--user` */
  enterGroup(group: string, isAnother: boolean): Promise<string>;
  /** Takes a group from a user, here and by SCIM. @returns whether the app was told */
  leaveGroup(username: string, group: string): Promise<boolean>;
  /** Gives the group another name in the app, and in the claim of a user. @returns why not, or null */
  renameGroup(group: string, username: string): Promise<string | null>;
  /** How often the app has refreshed since then. */
  refreshes(since: string | undefined): Promise<number>;
  /** The id of the latest request to idp. */
  mark(): Promise<string | undefined>;
  /** The later requests that may ask about a token. */
  asked(since: string | undefined): Promise<readonly Recorded[]>;
}

/** Seconds, as a person writes them: "5m". */
export function lasting(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  if (seconds % 3600 === 0 && seconds > 0) return `${seconds / 3600}h`;
  return seconds % 60 === 0 && seconds > 0 ? `${seconds / 60}m` : `${seconds}s`;
}
