import { Option, type Command, type Flags } from "../../commander.ts";
import { tokenFlawRows, tokenFlaws, type TokenFlaw } from "../../../core/testing/controls/faults/flaws/access-token.ts";
import { flagOf } from "../../../core/base/hint.ts";

/** The flags that make a token bad on purpose. */

/** As commander reads them. */
export type FlawFlags = Readonly<Record<string, unknown>>;

const optionOf = (flaw: TokenFlaw): Option => new Option(flagOf(flaw), tokenFlawRows[flaw].flag);

/** By the names of the operation's fields. */
export const flawsOf = (flags: FlawFlags): Readonly<Partial<Record<TokenFlaw, true>>> =>
  Object.fromEntries(
    tokenFlaws.filter((flaw) => flags[optionOf(flaw).attributeName()] === true).map((flaw) => [flaw, true]),
  );

/** Adds the flags. @param group the heading in the help */
export function withFlaws<A extends unknown[], F extends Flags, G extends Flags>(
  command: Command<A, F, G>,
  group: string,
): Command<A, F, G> {
  command.optionsGroup(group);
  for (const flaw of tokenFlaws) command.addOption(optionOf(flaw));
  return command;
}
