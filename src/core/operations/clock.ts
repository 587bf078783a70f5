import { showClock } from "../testing/clock.ts";
import { changes, reads } from "./operation.ts";

/** The clock, which belongs to a running server, or to all that share a store. */

const moves = () => import("../testing/move-clock.ts");

const ofTesting = { needsServer: "unless shared" } as const;

export const clockOperations = {
  "clock.show": { ...reads("/clock", {}, async (ctx) => showClock(ctx)), ...ofTesting },
  "clock.advance": changes(
    "/clock/advance",
    { by: "any?" },
    async (ctx, input) => (await moves()).advanceClock(ctx, input),
    ofTesting,
  ),
  "clock.set": changes(
    "/clock/set",
    { to: "string" },
    async (ctx, input) => (await moves()).setClock(ctx, input),
    ofTesting,
  ),
  "clock.freeze": changes("/clock/freeze", {}, async (ctx) => (await moves()).freezeClock(ctx), ofTesting),
  "clock.reset": changes("/clock/reset", {}, async (ctx) => (await moves()).resetClock(ctx), ofTesting),
};
