import { changes, creates, reads, removes } from "./operation.ts";

/** Snapshots of the state. */

const snapshots = () => import("../testing/snapshots.ts");

export const snapshotOperations = {
  "snapshots.list": reads("/snapshots", {}, async (ctx) => (await snapshots()).listSnapshots(ctx)),
  "snapshots.save": changes(
    "/snapshots/:name",
    { name: "string" },
    async (ctx, input) => (await snapshots()).saveSnapshot(ctx, input),
    creates,
  ),
  "snapshots.restore": changes("/snapshots/:name/restore", { name: "string" }, async (ctx, input) =>
    (await snapshots()).restoreSnapshot(ctx, input),
  ),
  "snapshots.remove": changes(
    "/snapshots/:name",
    { name: "string" },
    async (ctx, input) => (await snapshots()).removeSnapshot(ctx, input),
    removes,
  ),
};
