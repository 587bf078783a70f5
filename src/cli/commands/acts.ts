import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { table } from "../output/table.ts";
import { since } from "../output/words.ts";
import { findTarget } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

/** `idp acts`: who changed what, by the names of the tokens of the control API. */
async function listActs(cli: Invocation): Promise<Outcome> {
  const acts = await (await findTarget(cli)).call("acts", {});
  return answer(acts, (shown, style) =>
    shown.length === 0
      ? "No changes since the server started."
      : table(
          [
            { title: "TIME", value: ({ time }) => since(time, cli.now()) },
            { title: "BY", value: ({ by }) => by },
            { title: "ROLE", value: ({ role }) => role },
            { title: "STATUS", value: ({ status }) => String(status) },
            { title: "COMMAND", value: ({ command }) => command, shrinks: true },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** Declares `idp acts`. */
export const declareActs: Declare = (command, { act }) => {
  command
    .addHelpText("after", examples("idp acts", "idp acts --json | jq '.[] | select(.by == \"qa\")'"))
    .action(act(listActs));
};
