import type { RawParameters } from "../../core/authorize/parameters.ts";
import { isObject } from "../../core/json-object.ts";
import { faultEndpoints } from "../../core/testing/faults/fault-endpoints.ts";
import { flawNames } from "../../core/testing/faults/flaw-list.ts";
import { single } from "../input/params.ts";

/** The form that adds a fault: its fields are those of the operation, and the flags of the command. */

const numbers = ["status", "drop_after", "times"];
const texts = ["error", "delay", "body", "client", "user", "grant_type"];
const ticks = ["drop", "after", "always"];

export const faultForm = {
  lists: [
    { name: "endpoint", options: ["any", ...faultEndpoints] },
    { name: "flaw", options: ["", ...flawNames] },
  ],
  fields: [...numbers, ...texts],
  ticks,
};

/** A whole number as one; anything else stays as it was typed, for the operation to refuse. */
const numberIn = (typed: string): number | string => (/^\d{1,7}$/.test(typed) ? Number(typed) : typed);

/** @returns the fault as JSON */
export function faultIn(body: RawParameters): string {
  const given = (name: string): string | undefined => single(body, name)?.trim();
  const named = <T>(names: readonly string[], read: (typed: string) => T) =>
    names.flatMap((name) => {
      const typed = given(name) ?? "";
      return typed === "" ? [] : [[name, read(typed)] as const];
    });
  return JSON.stringify({
    endpoint: given("endpoint") ?? "",
    ...Object.fromEntries([
      ...named(["flaw", ...texts], String),
      ...named(numbers, numberIn),
      ...named(ticks, () => true),
    ]),
  });
}

/** @param fault as {@link faultIn} returns it */
export function faultOf(fault: string): Readonly<Record<string, unknown>> {
  const parsed: unknown = JSON.parse(fault);
  return isObject(parsed) ? parsed : {};
}

/** The command that adds the same fault. */
export function faultCommand(fault: string): readonly string[] {
  const { endpoint, ...rest } = faultOf(fault);
  const flags = Object.entries(rest).flatMap(([name, value]) => {
    const flag = `--${name.replaceAll("_", "-")}`;
    return value === true ? [flag] : [flag, String(value)];
  });
  return ["idp", "faults", "add", String(endpoint), ...flags];
}
