import * as z from "zod";
import { declare, none, nothing } from "./operation.ts";
import * as given from "./schemas/given.ts";
import * as shown from "./schemas/shown.ts";
import { fault } from "./schemas/shown-faults.ts";
import { activeFaults } from "../../testing/controls/faults/faults.ts";

/** Faults: responses that a tester wants to be wrong. They end with the server, unless the store is shared. */

const faults = () => import("../../testing/controls/faults/fault-admin.ts");

export const faultOperations = {
  "faults.list": declare({
    input: nothing,
    answer: z.array(fault),
    run: async (ctx) => ctx.store.read(activeFaults),
  }),
  "faults.add": declare({
    note: "The client and the user must exist: 422.",
    input: given.faultInput,
    answer: fault,
    run: async (ctx, fault, { by }) => (await faults()).addFault(ctx, fault, by?.name),
  }),
  "faults.clear": declare({
    input: nothing,
    answer: none,
    run: async (ctx) => (await faults()).clearFaults(ctx),
  }),
  "faults.flaws": declare({
    input: nothing,
    answer: z.array(shown.flaw),
    run: async () => (await import("../../testing/controls/faults/flaw-list.ts")).listFlaws(),
  }),
  "faults.remove": declare({
    input: z.strictObject({ id: z.string() }),
    answer: none,
    refuses: [404],
    run: async (ctx, input) => (await faults()).removeFault(ctx, input),
  }),
};
