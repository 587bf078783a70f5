import { showClock } from "../clock.ts";
import { changes, nothing, reads } from "./operation.ts";

/** The clock, which belongs to a running server, or to all that share a store. */

const moves = () => import("../controls/move-clock.ts");
const times = () => import("./schemas/times.ts");
const answer = async () => (await import("./schemas/shown.ts")).clock;

const ofTesting = { needsServer: "unless shared" } as const;

export const clockOperations = {
  "clock.show": reads(
    "/clock",
    {
      role: "reader",
      summary: "What the clock of the server shows",
      input: nothing,
      answer,
      run: async (ctx) => showClock(ctx),
    },
    ofTesting,
  ),
  "clock.advance": changes(
    "/clock/advance",
    {
      role: "tester",
      summary: "Move the clock, until the server ends or it is reset; a negative duration moves it back",
      note: "The clock shows the years from 1970 to 9979: 422 beyond.",
      input: async (zod) => zod.strictObject({ by: (await times()).signedDuration }),
      answer,
      run: async (ctx, input) => (await moves()).advanceClock(ctx, input),
    },
    ofTesting,
  ),
  "clock.set": changes(
    "/clock/set",
    {
      role: "tester",
      summary: "Set the clock; what was revoked stays revoked, and what had expired for good stays expired",
      input: async (zod) => zod.strictObject({ to: (await times()).clockTime }),
      answer,
      run: async (ctx, input) => (await moves()).setClock(ctx, input),
    },
    ofTesting,
  ),
  "clock.freeze": changes(
    "/clock/freeze",
    {
      role: "tester",
      summary: "Stop the clock; it can still be advanced and set",
      input: nothing,
      answer,
      run: async (ctx) => (await moves()).freezeClock(ctx),
    },
    ofTesting,
  ),
  "clock.reset": changes(
    "/clock/reset",
    {
      role: "tester",
      summary: "Let the clock show the real time again",
      input: nothing,
      answer,
      run: async (ctx) => (await moves()).resetClock(ctx),
    },
    ofTesting,
  ),
};
