import { changes, creates, none, nothing, reads, removes } from "./operation.ts";

/** Snapshots of the state. */

const snapshots = () => import("../controls/snapshots.ts");
const snapshot = async () => (await import("./schemas/shown.ts")).snapshot;

export const snapshotOperations = {
  "snapshots.list": reads("/snapshots", {
    role: "reader",
    summary: "List snapshots",
    input: nothing,
    answer: async (zod) => zod.array(await snapshot()),
    run: async (ctx) => (await snapshots()).listSnapshots(ctx),
  }),
  "snapshots.save": changes(
    "/snapshots/:name",
    {
      role: "tester",
      summary: "Save all of the state under a name, in place of an earlier one",
      input: async (zod) => {
        const { snapshotName } = await snapshots();
        const { ruleAndValue } = await import("../fields.ts");
        const rule = "must be 1 to 64 letters, digits, - and _, such as before-logout";
        return zod.strictObject({
          name: zod.string().regex(snapshotName, ruleAndValue(rule)),
          replace: zod.boolean().optional().describe("Also one that somebody else saved"),
        });
      },
      answer: snapshot,
      refuses: [409],
      run: async (ctx, input, { by }) => (await snapshots()).saveSnapshot(ctx, input, by),
    },
    creates,
  ),
  "snapshots.restore": changes("/snapshots/:name/restore", {
    role: "tester",
    summary: "Go back to a snapshot: what was revoked since is valid again, tokens and codes issued since are not",
    note: "A tester brings back grants, sessions, the status of users, the clock and the faults; an admin brings back all.",
    input: async (zod) =>
      zod.strictObject({
        name: zod.string(),
        keep: zod
          .array(zod.enum((await snapshots()).keepable))
          .optional()
          .describe("What stays as it is now; without it, the clock and the faults go back too"),
      }),
    answer: async (zod) =>
      (await snapshot()).extend({
        stillActive: zod
          .object({ clock: (await import("./schemas/shown.ts")).clock.optional(), faults: zod.int().optional() })
          .optional()
          .describe("Only with keep: the clock, if it is moved, and how many faults"),
        faults: zod.array((await import("./schemas/shown.ts")).fault).describe("Those that are active again"),
        validAgain: zod.object({ grants: zod.int(), tokens: zod.int() }).describe("What was revoked since"),
      }),
    refuses: [404],
    run: async (ctx, input, { by }) => (await snapshots()).restoreSnapshot(ctx, input, by),
  }),
  "snapshots.remove": changes(
    "/snapshots/:name",
    {
      role: "tester",
      summary: "Remove a snapshot",
      input: (zod) =>
        zod.strictObject({
          name: zod.string(),
          replace: zod.boolean().optional().describe("Also one that somebody else saved"),
        }),
      answer: none,
      refuses: [404, 409],
      run: async (ctx, input, { by }) => (await snapshots()).removeSnapshot(ctx, input, by),
    },
    removes,
  ),
};
