import { pathNames, requestOf, type Route } from "./route.ts";
import type { Context } from "../../context.ts";
import type { Operator } from "../../records/operators/roles.ts";
import { commandOn, flagWith } from "../../base/hint.ts";
import type { ReadTx } from "../../../store/store.ts";
import { cut, redacted } from "../../../text/redacted.ts";

/** What an operator does to a server while apps use it: the inspector shows it between their requests. */

const shownInLedger: readonly string[] = [
  ...["revoke", "grants.revoke", "users.suspend", "users.ban", "users.restore", "users.leave"],
  ...["sessions.begin", "sessions.end", "expire", "reset"],
  ...["clock.advance", "clock.set", "clock.freeze", "clock.reset", "faults.add", "faults.remove", "faults.clear"],
  "snapshots.restore",
];

/** The fields that an act shows: names, times and durations. No other is shown, since it may be a secret. */
const shownFields = new Set(
  "username user client client_id id name scope endpoint by to at issuer acr kind workload all access refresh sessions codes keys".split(
    " ",
  ),
);

/** The commands that are named otherwise than the operation. */
const otherWords: Readonly<Record<string, string>> = {
  "diff.given": "diff",
  "fixtures.apply": "seed",
  "grants.add": "issue grant",
  "sessions.begin": "sign-in",
  "sessions.remove": "sessions end",
};

/** What only the control API does. */
const withoutCommand: readonly string[] = ["grants.edit", "workloads.issue"];

/** What somebody asked for. */
interface Asked {
  readonly name: string;
  readonly operation: Pick<Route, "method" | "path">;
  readonly input: object;
  /** What was refused may hold anything, a password in place of a name too. Whether a text names what is registered; absent: it was not refused. */
  readonly isKnown?: (text: string) => boolean;
}

/** Characters of one value. */
const maxValue = 100;

/** A value as it may be shown. */
const shownIn =
  (isKnown: (text: string) => boolean) =>
  (value: unknown): unknown =>
    typeof value !== "string" ? value : isKnown(value) ? cut(redacted(value), maxValue) : "VALUE";

/** Whether a text names a record, or an issuer of the process. */
export const isKnownIn =
  (tx: ReadTx, { issuers }: Pick<Context, "issuers">) =>
  (text: string): boolean =>
    [...issuers.open()].some(({ name }) => name === text) ||
    tx.get("testing", `fault ${text}`) !== undefined ||
    tx.find("users", "username", text) !== undefined ||
    tx.find("sessions", "sid", text) !== undefined ||
    (["users", "clients", "scopes", "grants", "keys", "snapshots"] as const).some(
      (collection) => tx.get(collection, text) !== undefined,
    );

/** The words of the command that does the same, or of the request where there is none; its values are names, times and durations. */
export function commandOf({ name, operation, input: given, isKnown = () => true }: Asked): readonly string[] {
  const shownValue = shownIn(isKnown);
  const input = Object.fromEntries(Object.entries(given).map(([field, value]) => [field, shownValue(value)]));
  if (withoutCommand.includes(name)) return [operation.method, `/_idp/api${requestOf(operation, input).path}`];
  const inPath = pathNames(operation.path);
  const shown = new Set(name === "faults.add" ? ["endpoint"] : shownFields);
  const fields = Object.entries(input).filter(
    ([field, value]) => shown.has(field) && ["string", "number", "boolean"].includes(typeof value),
  );
  const [[first, only] = ["", true]] = fields;
  const isWord = fields.length === 1 && only !== true && first !== "user" && first !== "client";
  const words = isWord ? [first] : inPath;
  const [positional, flagged] = [true, false].map((isOne) =>
    fields.filter(([field]) => words.includes(field) === isOne),
  );
  const flags = (flagged ?? []).flatMap(([flag, value]) =>
    value === true ? [`--${flag}`] : flagWith(`--${flag}`, String(value)),
  );
  const command = ["idp", ...(otherWords[name] ?? name).split(/[. ]/)];
  const [word] = positional ?? [];
  return word === undefined ? [...command, ...flags] : commandOn(command, String(word[1]), flags);
}

/** Call it after an operation has been done. */
export function tellLedger(
  { ledger, now }: Context,
  { name, operation, input, by }: Asked & { readonly by?: Operator },
): void {
  if (!shownInLedger.includes(name)) return;
  const command = commandOf({ name, operation, input });
  ledger.act({ time: now(), command, by: by?.name ?? null });
}
