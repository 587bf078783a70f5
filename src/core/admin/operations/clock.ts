import * as z from "zod";
import { declare, nothing } from "./operation.ts";
import * as shown from "./schemas/shown.ts";
import { showClock } from "../../base/clock.ts";
import { clockTime, signedDuration } from "./schemas/times.ts";

/** The clock, which belongs to a running server, or to all that share a store. */

const moves = () => import("../../testing/controls/move-clock.ts");

export const clockOperations = {
  "clock.show": declare({
    input: nothing,
    answer: shown.clock,
    run: async (ctx) => showClock(ctx),
  }),
  "clock.advance": declare({
    note: "The clock shows the years from 1970 to 9979: 422 beyond.",
    input: z.strictObject({ by: signedDuration }),
    answer: shown.clock,
    run: async (ctx, input) => (await moves()).advanceClock(ctx, input),
  }),
  "clock.set": declare({
    input: z.strictObject({ to: clockTime }),
    answer: shown.clock,
    run: async (ctx, input) => (await moves()).setClock(ctx, input),
  }),
  "clock.freeze": declare({
    input: nothing,
    answer: shown.clock,
    run: async (ctx) => (await moves()).freezeClock(ctx),
  }),
  "clock.reset": declare({
    input: nothing,
    answer: shown.clock,
    run: async (ctx) => (await moves()).resetClock(ctx),
  }),
};
