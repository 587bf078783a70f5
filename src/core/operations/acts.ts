import type { Context } from "../context.ts";
import { commandOn, flagWith, plainCommandLine } from "../hint.ts";

/** What an operator does to a server while apps use it: the inspector shows it between their requests. */

const told: readonly string[] = [
  ...["revoke", "grants.revoke", "users.suspend", "users.ban", "users.restore", "sessions.end", "expire", "reset"],
  ...["clock.advance", "clock.set", "clock.freeze", "clock.reset", "faults.add", "faults.remove", "faults.clear"],
  "snapshots.restore",
];

/** The command that does the same; its values are names, times and durations. */
function commandOf(name: string, input: Readonly<Record<string, unknown>>): string {
  const { endpoint } = input;
  const fields = Object.entries(name === "faults.add" ? { endpoint } : input).filter(([, value]) =>
    ["string", "number", "boolean"].includes(typeof value),
  );
  const command = ["idp", ...name.split(".")];
  const [[field, only] = ["", true]] = fields;
  if (fields.length === 1 && only !== true && field !== "user" && field !== "client")
    return plainCommandLine(commandOn(command, String(only)));
  const flags = fields.flatMap(([flag, value]) =>
    value === true ? [`--${flag}`] : flagWith(`--${flag}`, String(value)),
  );
  return plainCommandLine([...command, ...flags]);
}

/** Call it after an operation has been done. */
export function tellLedger({ ledger, now }: Context, name: string, input: object): void {
  if (told.includes(name)) ledger.act({ time: now(), command: commandOf(name, input as Record<string, unknown>) });
}
