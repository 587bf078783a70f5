import { activeFaults } from "../testing/faults/faults.ts";
import { changes, creates, reads, removes } from "./operation.ts";

/** Faults: responses that a tester wants to be wrong. They end with the server. */

const faults = () => import("../testing/faults/fault-admin.ts");

const inMemory = { changes: false, needsServer: true } as const;

export const faultOperations = {
  "faults.list": { ...reads("/faults", {}, async (ctx) => ctx.store.read(activeFaults)), needsServer: true },
  "faults.add": changes(
    "/faults",
    { fault: "body" },
    async (ctx, input) => (await faults()).addFault(ctx, input.fault),
    {
      ...creates,
      ...inMemory,
    },
  ),
  "faults.clear": changes("/faults", {}, async (ctx) => (await faults()).clearFaults(ctx), { ...removes, ...inMemory }),
  "faults.flaws": reads("/faults/flaws", {}, async () => (await faults()).listFlaws()),
  "faults.remove": changes(
    "/faults/:id",
    { id: "string" },
    async (ctx, input) => (await faults()).removeFault(ctx, input),
    {
      ...removes,
      ...inMemory,
    },
  ),
};
