import type { ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import type { Operator, Role } from "./roles.ts";

/** A change that somebody asked for, by the control API or in the inspector. */
export interface RecordedAct {
  /** ISO 8601, in reality: operators look at it by their own clock, whatever a tester did to the server's. */
  readonly time: string;
  /** The name of the token. */
  readonly by: string;
  readonly role: Role;
  /** The command that does the same, without secrets. */
  readonly command: string;
  /** The status of the answer: 403 for what the role may not do. */
  readonly status: number;
}

/** How many an issuer keeps. */
const maxActs = 200;

const actsIn = (tx: ReadTx): readonly RecordedAct[] =>
  (tx.get("testing", "acts")?.value ?? []) as readonly RecordedAct[];

/** Keeps an act, beside the clock and the faults, so that all instances of a shared store have it. */
export async function recordAct(
  { store, clock }: Context,
  { name: by, role }: Operator,
  { command, status }: Pick<RecordedAct, "command" | "status">,
): Promise<void> {
  const act = { time: new Date(clock.unmoved()).toISOString(), by, role, command, status };
  await store.transaction((tx) => {
    tx.put("testing", { id: "acts", value: [...actsIn(tx), act].slice(-maxActs) });
  });
}

/** The oldest first. */
export const listActs = ({ store }: Pick<Context, "store">): Promise<readonly RecordedAct[]> => store.read(actsIn);
