import * as z from "zod";
import { declare, none, nothing } from "./operation.ts";
import * as shown from "./schemas/shown.ts";
import { fault } from "./schemas/shown-faults.ts";
import {
  keepable,
  listSnapshots,
  removeSnapshot,
  restoreSnapshot,
  saveSnapshot,
  snapshotName,
} from "../../testing/controls/snapshots.ts";
import { ruleAndValue } from "../../records/fields.ts";

/** Snapshots of the state. */

export const snapshotOperations = {
  "snapshots.list": declare({
    input: nothing,
    answer: z.array(shown.snapshot),
    run: async (ctx) => listSnapshots(ctx),
  }),
  "snapshots.save": declare({
    input: z.strictObject({
      name: z
        .string()
        .regex(snapshotName, ruleAndValue("must be 1 to 64 letters, digits, - and _, such as before-logout")),
      replace: z.boolean().optional().describe("Also one that somebody else saved"),
    }),
    answer: shown.snapshot,
    refuses: [409],
    run: async (ctx, input, { by }) => saveSnapshot(ctx, input, by),
  }),
  "snapshots.restore": declare({
    note: "A tester brings back grants, sessions, the status of users, the clock and the faults; an admin brings back all.",
    input: z.strictObject({
      name: z.string(),
      keep: z
        .array(z.enum(keepable))
        .optional()
        .describe("What stays as it is now; without it, the clock and the faults go back too"),
    }),
    answer: shown.snapshot.extend({
      stillActive: z
        .object({ clock: shown.clock.optional(), faults: z.int().optional() })
        .optional()
        .describe("Only with keep: the clock, if it is moved, and how many faults"),
      faults: z.array(fault).describe("Those that are active again"),
      validAgain: z.object({ grants: z.int(), tokens: z.int() }).describe("What was revoked since"),
    }),
    refuses: [404],
    run: async (ctx, input, { by }) => restoreSnapshot(ctx, input, by),
  }),
  "snapshots.remove": declare({
    input: z.strictObject({
      name: z.string(),
      replace: z.boolean().optional().describe("Also one that somebody else saved"),
    }),
    answer: none,
    refuses: [404, 409],
    run: async (ctx, input, { by }) => removeSnapshot(ctx, input, by),
  }),
};
