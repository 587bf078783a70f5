import { OperationError } from "../../core/errors.ts";
import { expectLines } from "../../core/ledger/expect-text.ts";
import type { ExpectEndpoint } from "../../core/ledger/request-endpoints.ts";
import { failureOf } from "../failure.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { wrap } from "../output/table.ts";
import { findTarget } from "../target/target.ts";
import { filterOf, unknownNames, type FilterFlags } from "./requests/requests.ts";

/** The flags of `idp expect`, as commander reads them. */
export interface ExpectFlags extends FilterFlags {
  readonly param?: Readonly<Record<string, string>>;
  readonly times?: number;
  readonly atLeast?: number;
  readonly never?: true;
  readonly within?: string;
}

/** `idp expect`: exit 0 if the expectation is met, otherwise 6. */
export async function expectRequests(cli: Invocation, endpoint: ExpectEndpoint, flags: ExpectFlags): Promise<Outcome> {
  const { param, times, atLeast, never, within, ...filters } = flags;
  const target = await findTarget(cli);
  const result = await target.call("expect", {
    ...filterOf(filters),
    ...{ endpoint, param, times, at_least: atLeast, never, within },
  });
  const notes = result.count === 0 ? await unknownNames(target, filters) : [];
  return answer(
    result,
    (shown, style) =>
      expectLines(shown)
        .map((line, index) => (index === 0 ? (shown.met ? style.green : style.red)(line) : line))
        .map((line) => (line.startsWith(" ") ? line : wrap(line, cli.width, "  ").trimStart()))
        .join("\n"),
    { notes, failure: result.met ? null : failureOf(new OperationError("refused", "the expectation is not met")) },
  );
}
