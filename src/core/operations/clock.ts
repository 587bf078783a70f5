import { showClock } from "../testing/clock.ts";
import { changes, reads } from "./operation.ts";

/** The clock, which belongs to a running server. */

const moves = () => import("../testing/move-clock.ts");

const ofServer = { needsServer: true } as const;

export const clockOperations = {
  "clock.show": { ...reads("/clock", {}, async (ctx) => showClock(ctx)), ...ofServer },
  "clock.advance": changes(
    "/clock/advance",
    { by: "any?" },
    async (ctx, input) => (await moves()).advanceClock(ctx, input),
    ofServer,
  ),
  "clock.set": changes(
    "/clock/set",
    { to: "string" },
    async (ctx, input) => (await moves()).setClock(ctx, input),
    ofServer,
  ),
  "clock.freeze": changes("/clock/freeze", {}, async (ctx) => (await moves()).freezeClock(ctx), ofServer),
  "clock.reset": changes("/clock/reset", {}, async (ctx) => (await moves()).resetClock(ctx), ofServer),
};
