import type { Context } from "../../context.ts";
import { endInspector } from "../../records/inspector/access.ts";
import { faultsIn, putFaults } from "./faults/faults.ts";
import { putMoved } from "./move-clock.ts";
import { movedIn, unmoved } from "../../base/clock.ts";

/** Ends what a tester did to running servers: the clock, the faults, and whoever is in the inspector. */
export const endRun = ({ store, clock }: Context): Promise<void> =>
  store.transaction((tx) => {
    const { ahead, frozenAt } = movedIn(tx);
    if (ahead !== 0 || frozenAt !== null) putMoved(tx, clock, unmoved);
    putFaults(tx, { added: faultsIn(tx).added, kept: [] });
    endInspector(tx);
  });
