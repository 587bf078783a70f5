import { activeFaults } from "../testing/faults/faults.ts";
import { changes, creates, reads, removes } from "./operation.ts";

/** Faults: responses that a tester wants to be wrong. They end with the server, unless the store is shared. */

const faults = () => import("../testing/faults/fault-admin.ts");

const ofTesting = { changes: false, needsServer: "unless shared" } as const;

export const faultOperations = {
  "faults.list": { ...reads("/faults", {}, async (ctx) => ctx.store.read(activeFaults)), ...ofTesting },
  "faults.add": changes(
    "/faults",
    { fault: "body" },
    async (ctx, input) => (await faults()).addFault(ctx, input.fault),
    {
      ...creates,
      ...ofTesting,
    },
  ),
  "faults.clear": changes("/faults", {}, async (ctx) => (await faults()).clearFaults(ctx), {
    ...removes,
    ...ofTesting,
  }),
  "faults.flaws": reads("/faults/flaws", {}, async () => (await faults()).listFlaws()),
  "faults.remove": changes(
    "/faults/:id",
    { id: "string" },
    async (ctx, input) => (await faults()).removeFault(ctx, input),
    {
      ...removes,
      ...ofTesting,
    },
  ),
};
