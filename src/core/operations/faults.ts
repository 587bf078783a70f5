import { activeFaults } from "../controls/faults/faults.ts";
import { changes, creates, none, nothing, reads, removes } from "./operation.ts";

/** Faults: responses that a tester wants to be wrong. They end with the server, unless the store is shared. */

const faults = () => import("../controls/faults/fault-admin.ts");
const shown = () => import("./schemas/shown.ts");

const ofTesting = { changes: false, needsServer: "unless shared" } as const;

export const faultOperations = {
  "faults.list": reads(
    "/faults",
    {
      role: "reader",
      summary: "List the faults that are active",
      input: nothing,
      answer: async (zod) => zod.array((await shown()).fault),
      run: async (ctx) => ctx.store.read(activeFaults),
    },
    ofTesting,
  ),
  "faults.add": changes(
    "/faults",
    {
      role: "tester",
      summary: "Add a fault: the requests that match it get a response that is wrong on purpose",
      note: "The client and the user must exist: 422.",
      input: async () => (await import("./schemas/given.ts")).faultInput,
      answer: async () => (await shown()).fault,
      run: async (ctx, fault, { by }) => (await faults()).addFault(ctx, fault, by?.name),
    },
    { ...creates, ...ofTesting },
  ),
  "faults.clear": changes(
    "/faults",
    {
      role: "tester",
      summary: "Remove all faults",
      input: nothing,
      answer: none,
      run: async (ctx) => (await faults()).clearFaults(ctx),
    },
    { ...removes, ...ofTesting },
  ),
  "faults.flaws": reads("/faults/flaws", {
    role: "reader",
    summary: "List the flaws that a response can have, and what each should make a client do",
    input: nothing,
    answer: async (zod) => zod.array((await shown()).flaw),
    run: async () => (await import("../controls/faults/flaw-list.ts")).listFlaws(),
  }),
  "faults.remove": changes(
    "/faults/:id",
    {
      role: "tester",
      summary: "Remove a fault",
      input: (zod) => zod.strictObject({ id: zod.string() }),
      answer: none,
      refuses: [404],
      run: async (ctx, input) => (await faults()).removeFault(ctx, input),
    },
    { ...removes, ...ofTesting },
  ),
};
