import { clockInWords } from "../../core/base/clock.ts";
import { faultInWords } from "../../core/testing/controls/faults/fault-admin.ts";
import type { RestoreResult, SnapshotView } from "../../core/testing/controls/snapshots.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { table } from "../output/table.ts";
import { count, since } from "../output/words.ts";
import { findTarget } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";
import { notListed } from "../flags/flag-values.ts";

const counts = ({ users, clients, grants, sessions }: SnapshotView): string =>
  [count(users, "user"), count(clients, "client"), count(grants, "grant"), count(sessions, "session")].join(", ");

interface Replacing {
  readonly replace?: true;
}

/** `idp snapshots save` */
async function saveSnapshot(cli: Invocation, name: string, { replace }: Replacing): Promise<Outcome> {
  const target = await findTarget(cli);
  const saved = await target.call("snapshots.save", { name, replace });
  return answer(saved, (shown) => `Saved ${shown.name}: ${counts(shown)}.`, { notes: [target.where] });
}

/** `idp snapshots restore` */
async function restoreSnapshot(
  cli: Invocation,
  name: string,
  { keep }: { readonly keep?: readonly Kept[] },
): Promise<Outcome> {
  const target = await findTarget(cli);
  const restored = await target.call("snapshots.restore", { name, ...(keep !== undefined && { keep: [...keep] }) });
  const { grants, tokens } = restored.validAgain;
  const back = [...(grants > 0 ? [count(grants, "grant")] : []), ...(tokens > 0 ? [count(tokens, "token")] : [])];
  return answer(restored, (shown) => `Restored ${shown.name}: ${counts(shown)}.`, {
    notes: [
      back.length === 0 ? "Nothing had been revoked since." : `Revoked since, and valid again: ${back.join(", ")}.`,
      "Tokens and codes that were issued since are invalid.",
      ...restored.faults.map((fault) => `Active again: the fault ${faultInWords(fault)}.`),
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
async function listSnapshots(cli: Invocation): Promise<Outcome> {
  const snapshots = await (await findTarget(cli)).call("snapshots.list", {});
  return answer(snapshots, (shown, style) =>
    shown.length === 0
      ? "No snapshots."
      : table(
          [
            { title: "SNAPSHOT", value: ({ name }) => name },
            { title: "SAVED", value: ({ savedAt }) => since(savedAt, cli.now()) },
            { title: "BY", value: ({ by = "" }) => by },
            { title: "CONTENT", value: counts },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** `idp snapshots remove` */
async function removeSnapshot(cli: Invocation, name: string, { replace }: Replacing): Promise<Outcome> {
  const target = await findTarget(cli);
  await target.call("snapshots.remove", { name, replace });
  return answer({ removed: name }, ({ removed }) => `Removed ${removed}.`, { notes: [target.where] });
}

const keepable = ["clock", "faults"] as const;
type Kept = (typeof keepable)[number];

function keeping(value: string, before: readonly Kept[] = []): readonly Kept[] {
  const kept = keepable.find((name) => name === value);
  if (kept === undefined) throw notListed(value, keepable, "It must be clock or faults.");
  return [...before, kept];
}

/** Declares the commands of `idp snapshots`. */
export const declareSnapshots: Declare = (group, { act }) => {
  group
    .command("save")
    .description("save users, clients, grants, sessions, revocations, keys and settings; an earlier one is replaced")
    .argument("<name>", "up to 64 letters, digits, - and _")
    .option("--replace", "also in place of a snapshot that somebody else saved")
    .addHelpText("after", examples("idp snapshots save signed-in", "idp snapshots save empty --json"))
    .action(act(saveSnapshot));
  group
    .command("restore")
    .description(
      "go back to a snapshot; what was revoked since is valid again, tokens and codes issued since are not; sign-ins under way begin again",
    )
    .argument("<snapshot>", "a name that idp snapshots list shows")
    .option("--keep <what>", "leave the clock or the faults as they are now: clock, faults; repeatable", keeping)
    .addHelpText("after", examples("idp snapshots restore signed-in", "idp snapshots restore empty --keep clock"))
    .action(act(restoreSnapshot));
  group
    .command("list", { isDefault: true })
    .description("list the snapshots")
    .addHelpText("after", examples("idp snapshots list", "idp snapshots list --json | jq -r '.[].name'"))
    .action(act(listSnapshots));
  group
    .command("remove")
    .description("remove a snapshot")
    .argument("<snapshot>", "a name that idp snapshots list shows")
    .option("--replace", "also a snapshot that somebody else saved")
    .addHelpText("after", examples("idp snapshots remove signed-in", "idp snapshots remove empty --json"))
    .action(act(removeSnapshot));
};
