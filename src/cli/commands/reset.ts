import type { ResetOutcome, ResetResult } from "../../core/admin/seed/reset.ts";
import { confirmed, notConfirmed } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { showProgress } from "../output/progress.ts";
import type { Style } from "../output/style.ts";
import { pairs } from "../output/table.ts";
import { chosenFixtures, inputOf } from "../target/chosen-fixtures.ts";
import { findTarget } from "../target/target.ts";
import { count, few } from "../output/words.ts";
import type { Declare } from "../act.ts";
import { collect } from "../flags/flag-values.ts";
import { examples, type Command, type FlagsOf } from "../commander.ts";

const withResetFlags = (command: Command) =>
  command
    .option("--fixtures <path>", "go back to these fixtures instead of those in use; repeatable", collect)
    .option("--keys", "also replace the signing keys");
type ResetFlags = FlagsOf<typeof withResetFlags>;

/** `idp reset`: back to the fixtures, of the running server or of the folder. */
async function reset(cli: Invocation, flags: ResetFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const { fixtures: given, notes } = await chosenFixtures(cli, target, flags.fixtures ?? [], ["idp", "reset"]);
  const name = given === null ? "the fixtures" : given.names.join(", ") || "the demo";
  const question = `Reset to ${name}? All changes, sessions, grants and tokens are discarded.`;
  if (!(await confirmed(cli, question))) throw notConfirmed("nothing was reset");
  const progress = showProgress(cli, "Applying fixtures");
  try {
    const input = { ...(given !== null && inputOf(given.sources)), keys: flags.keys };
    const result = await target.call("reset", input, progress.update);
    return answer(result, describe, {
      notes: [keysNote(result), ...notes, target.where],
    });
  } finally {
    progress.end();
  }
}

const keysNote = ({ keysRenewed }: ResetResult): string =>
  keysRenewed
    ? "All earlier tokens are invalid, and the signing keys are new."
    : "All earlier tokens are invalid. The signing keys stay; --keys replaces them.";

/** `user dave`, `2 users (dave, erin)`; "" for none. */
function named(kind: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  return names.length === 1 ? `${kind} ${few(names)}` : `${count(names.length, kind)} (${few(names)})`;
}

/** What was reset. What did not change is left out. */
function describe(result: ResetResult, style: Style): string {
  const { fixtures, users, clients, scopes, grants, settings, sessionsEnded } = result;
  const kinds = [
    ["user", users],
    ["client", clients],
    ["scope", scopes],
  ] as const;
  const number = (of: number, what: string): string => (of === 0 ? "" : count(of, what));
  const edits = ({ changed }: ResetOutcome): string[] =>
    changed.map(({ name, fields }) => `${name}: ${fields.join(" ")}`);
  const rows = {
    removed: [
      ...kinds.map(([kind, { removed }]) => named(kind, removed)),
      number(grants.removed.length, "grant"),
      number(sessionsEnded, "session"),
    ],
    "brought back": [...kinds.map(([kind, { added }]) => named(kind, added)), number(grants.added.length, "grant")],
    undone: [
      ...kinds.map(([kind, outcome]) => named(kind, edits(outcome))),
      number(grants.changed.length, "grant"),
      settings.length === 0 ? "" : `settings: ${settings.join(" ")}`,
    ],
  };
  const said = Object.entries(rows)
    .map(([what, parts]) => [what, parts.filter((part) => part !== "").join(", ")] as const)
    .filter(([, parts]) => parts !== "");
  const name = fixtures.length === 0 ? "the fixtures" : fixtures.join(", ");
  const head = `Reset to ${name}: ${count(users.total, "user")}, ${count(clients.total, "client")}.`;
  return said.length === 0 ? head : `${head}\n${pairs(said, style)}`;
}

/** Declares `idp reset`. */
export const declareReset: Declare = (command, { act }) => {
  withResetFlags(command).addHelpText("after", examples("idp reset", "idp reset --yes --keys")).action(act(reset));
};
