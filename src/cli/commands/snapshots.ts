import { clockInWords } from "../../core/clock.ts";
import type { RestoreResult, SnapshotView } from "../../core/controls/snapshots.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { table } from "../output/table.ts";
import { count, since } from "../output/words.ts";
import { findTarget } from "../target/target.ts";

const counts = ({ users, clients, grants, sessions }: SnapshotView): string =>
  [count(users, "user"), count(clients, "client"), count(grants, "grant"), count(sessions, "session")].join(", ");

/** `idp snapshots save` */
export async function saveSnapshot(cli: Invocation, name: string): Promise<Outcome> {
  const target = await findTarget(cli);
  const saved = await target.call("snapshots.save", { name });
  return answer(saved, (shown) => `Saved ${shown.name}: ${counts(shown)}.`, { notes: [target.where] });
}

/** `idp snapshots restore` */
export async function restoreSnapshot(
  cli: Invocation,
  name: string,
  { keep }: { readonly keep?: readonly ("clock" | "faults")[] },
): Promise<Outcome> {
  const target = await findTarget(cli);
  const restored = await target.call("snapshots.restore", { name, ...(keep !== undefined && { keep: [...keep] }) });
  const { grants, tokens } = restored.validAgain;
  const back = [...(grants > 0 ? [count(grants, "grant")] : []), ...(tokens > 0 ? [count(tokens, "token")] : [])];
  return answer(restored, (shown) => `Restored ${shown.name}: ${counts(shown)}.`, {
    notes: [
      back.length === 0 ? "Nothing had been revoked since." : `Revoked since, and valid again: ${back.join(", ")}.`,
      "Tokens and codes that were issued since are invalid.",
      ...stillActive(restored),
      target.where,
    ],
  });
}

function stillActive({ stillActive: { clock, faults = 0 } = {} }: RestoreResult): readonly string[] {
  return [
    ...(clock === undefined ? [] : [`Still active: the clock is ${clockInWords(clock)}.`]),
    ...(faults === 0 ? [] : [`Still active: ${count(faults, "fault")}.`]),
  ];
}

/** `idp snapshots list` */
export async function listSnapshots(cli: Invocation): Promise<Outcome> {
  const snapshots = await (await findTarget(cli)).call("snapshots.list", {});
  return answer(snapshots, (shown, style) =>
    shown.length === 0
      ? "No snapshots."
      : table(
          [
            { title: "SNAPSHOT", value: ({ name }) => name },
            { title: "SAVED", value: ({ savedAt }) => since(savedAt, cli.now()) },
            { title: "CONTENT", value: counts },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** `idp snapshots remove` */
export async function removeSnapshot(cli: Invocation, name: string): Promise<Outcome> {
  const target = await findTarget(cli);
  await target.call("snapshots.remove", { name });
  return answer({ removed: name }, ({ removed }) => `Removed ${removed}.`, { notes: [target.where] });
}
