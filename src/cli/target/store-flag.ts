import type { AnyCommand as Command } from "../commander.ts";
import { OperationError } from "../../core/base/errors.ts";
import { holdsPassword, problemOfAddress } from "../../store/postgres/address.ts";
import { type Invocation } from "../invocation.ts";
import { globalFlags } from "../flags/global.ts";
import { say } from "../output/print.ts";

/** `--store` and IDP_STORE: the address of a shared store. No other place for the data may be named beside it. */

/** The variable or the flag that the person used. */
const nameOf = (program: Command): string =>
  program.getOptionValueSource("store") === "env" ? "IDP_STORE" : "--store";

/** Checks what was given, before a command runs. @throws {OperationError} usage */
export function checkStore(program: Command, cli: Invocation): void {
  const { store } = globalFlags(program);
  if (store === undefined) return;
  const problem = problemOfAddress(store);
  if (problem !== null) throw new OperationError("usage", `${nameOf(program)} ${problem}`);
  // A folder that only the environment names does not count; an image may set it.
  if (program.getOptionValueSource("data") === "cli") throw twoPlaces(`${nameOf(program)} and --data`);
  if (program.getOptionValueSource("store") === "cli" && holdsPassword(store) && !cli.json) {
    say(
      cli,
      "Other users of this machine may see the password in --store (ps). Give the address in IDP_STORE, or the password in PGPASSWORD or ~/.pgpass.",
    );
  }
}

/** @param named the flags: `--store and --memory` */
export const twoPlaces = (named: string): OperationError =>
  new OperationError("usage", `${named} name two places for the data`, { hint: "Leave one of them out" });
