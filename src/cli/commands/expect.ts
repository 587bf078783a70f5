import { OperationError } from "../../core/base/errors.ts";
import { expectLines } from "../../core/testing/ledger/expect.ts";
import { failureOf } from "../failure.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { wrap } from "../output/table.ts";
import { findTarget } from "../target/target.ts";
import { unknownNames } from "./requests/requests.ts";
import { filterOf, withRequestFilter } from "../flags/request-filter.ts";
import { wholeNumber } from "../flags/flag-values.ts";
import { expectEndpoints, type ExpectEndpoint } from "../../core/testing/ledger/filter.ts";
import type { Declare } from "../act.ts";
import { examples, Argument, type Command, type FlagsOf, InvalidArgumentError } from "../commander.ts";

/** `code=abc` */
function parameter(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, content] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
  if (name === undefined || content === undefined) {
    throw new InvalidArgumentError("It must be a name and a value, such as scope=openid.");
  }
  return { ...before, [name]: content };
}

const withExpectFlags = (command: Command) =>
  withRequestFilter(command)
    .option("--param <name=value>", "only requests with this parameter; repeatable", parameter)
    .option("--times <number>", "exactly this many requests", wholeNumber)
    .option("--at-least <number>", "at least this many requests (default: 1)", wholeNumber)
    .option("--never", "no request at all")
    .option("--within <time>", "wait up to this long for the requests; with --never, watch the whole time");
type ExpectFlags = FlagsOf<typeof withExpectFlags>;

/** `idp expect`: exit 0 if the expectation is met, otherwise 6. */
async function expectRequests(cli: Invocation, endpoint: ExpectEndpoint, flags: ExpectFlags): Promise<Outcome> {
  const { param, times, atLeast, never, within, ...filters } = flags;
  const target = await findTarget(cli);
  const result = await target.call("expect", {
    ...filterOf(filters),
    ...{ endpoint, param, times, at_least: atLeast, never, within },
  });
  const notes = [
    ...(result.dropped && !result.met
      ? [{ text: "Clear it before the test", command: ["idp", "requests", "clear"] }]
      : []),
    ...(result.count === 0 ? await unknownNames(target, filters) : []),
  ];
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

/** Declares `idp expect`. */
export const declareExpect: Declare = (command, { act }) => {
  withExpectFlags(command)
    .addArgument(new Argument("<endpoint>", "the endpoint").choices(expectEndpoints))
    .addHelpText(
      "after",
      examples(
        "idp expect token --grant-type refresh_token --times 1",
        "idp expect userinfo --user alice --status 401 --within 5s",
        "idp expect authorize --client demo-app --param prompt=none --never",
      ),
    )
    .action(act(expectRequests));
};
