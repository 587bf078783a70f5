import { OperationError } from "../../core/base/errors.ts";
import type { DifferentRecord, Differences } from "../../core/admin/seed/diff.ts";
import { failureOf } from "../failure.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { collect } from "../flags/flag-values.ts";
import { chosenFixtures, inputOf } from "../target/chosen-fixtures.ts";
import { count } from "../output/words.ts";
import { findTarget } from "../target/target.ts";
import type { Declare } from "../act.ts";
import { examples, type Command, type FlagsOf, Option } from "../commander.ts";

const withDiffFlags = (command: Command) =>
  command
    .option("--fixtures <path>", "as a path; repeatable", collect)
    .addOption(new Option("--as <form>", "fixtures: print what to write into the fixture file").choices(["fixtures"]));
type DiffFlags = FlagsOf<typeof withDiffFlags>;

/** `idp diff`: exit 0 if the data is as the fixtures say, else 6. */
async function diff(
  cli: Invocation,
  paths: readonly string[],
  { as, fixtures: more = [] }: DiffFlags,
): Promise<Outcome> {
  const target = await findTarget(cli);
  const { fixtures: chosen, notes } = await chosenFixtures(cli, target, [...paths, ...more], ["idp", "diff"]);
  const { fixtures, ...result } =
    chosen === null
      ? await target.call("diff", { as })
      : await target.call("diff.given", { ...inputOf(chosen.sources), as });
  const failure = result.differs ? failureOf(new OperationError("refused", summary(result))) : null;
  if (as === "fixtures") return answer(fixtures ?? {}, (shown) => JSON.stringify(shown, null, 2), { failure });
  const [secret] = result.records.filter(({ fields }) => JSON.stringify(fields).includes("(secret)"));
  return answer(result, (shown, style) => lines(shown, style), {
    failure,
    notes: [
      ...(secret === undefined ? [] : ["Secrets are compared, and not shown."]),
      ...(result.issuers ?? []).map((name) => ({
        text: `To compare the issuer ${name}`,
        command: ["idp", "diff", "--issuer", name],
      })),
      ...notes,
      target.where,
    ],
  });
}

const summary = ({ records }: Differences): string =>
  `${count(records.length, "record")} ${records.length === 1 ? "differs" : "differ"} from the fixtures`;

const lines = ({ differs, records }: Differences, style: Style): string =>
  differs ? records.map((record) => lineOf(record, style)).join("\n") : "Nothing differs from the fixtures.";

function lineOf({ section, name, change, fields }: DifferentRecord, style: Style): string {
  if (change === "added") return style.green(`${section}  + ${name}`);
  if (change !== "changed") return style.red(`${section}  - ${name}`);
  const changes = Object.entries(fields).map(
    ([field, { fixture, data }]) => `${field}: ${valueText(fixture)} -> ${valueText(data)}`,
  );
  return [section, name, ...changes].join("  ");
}

const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Declares `idp diff`. */
export const declareDiff: Declare = (command, { act }) => {
  withDiffFlags(command)
    .argument("[path...]", "files or folders, or - for stdin (default: those of the server or of the data)")
    .addHelpText("after", examples("idp diff", "idp diff fixtures/ --json", "idp diff --as fixtures"))
    .action(act(diff));
};
