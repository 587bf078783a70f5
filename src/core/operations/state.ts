import { OperationError } from "../errors.ts";
import { changeIssuer } from "../issuers/issuer.ts";
import { changes, reads } from "./operation.ts";
import { fixtureBody, meantBy, texts } from "../fixtures/read/input-sources.ts";

/** All the data at once, and the server itself. */

export const stateOperations = {
  seed: changes(
    "/seed",
    {
      sources: "array?",
      users: "any?",
      clients: "any?",
      scopes: "any?",
      grants: "any?",
      settings: "any?",
      faults: "any?",
      issuers: "any?",
      $schema: "any?",
    },
    async (ctx, { sources, ...fixtures }, { progress }) => {
      const { seedNow } = await import("../fixtures/apply/seed-now.ts");
      const isGiven = Object.values(fixtures).some((value) => value !== undefined);
      return seedNow(ctx, meantBy(sources, isGiven ? fixtures : undefined) ?? [{ value: {} }], progress);
    },
    { bodyLimit: fixtureBody, createsData: true },
  ),
  reset: changes(
    "/reset",
    { sources: "array?", fixtures: "any?", keys: "boolean?" },
    async (ctx, { sources, fixtures, keys }, { progress }) => {
      const { reset } = await import("../fixtures/apply/reset.ts");
      return reset(ctx, { sources: meantBy(sources, fixtures), keys, progress });
    },
    { bodyLimit: fixtureBody },
  ),
  export: {
    ...reads("/export", { as: "string?" }, async (ctx, input) =>
      (await import("../state/export.ts")).exportState(ctx, input),
    ),
    changes: true,
  },
  import: changes(
    "/import",
    { document: "body" },
    async (ctx, { document }) => {
      const { importState } = await import("../state/import.ts");
      const { source, ...others } = document;
      if (source !== undefined && Object.keys(others).length > 0) {
        throw new OperationError("usage", "give source or a document, not both");
      }
      const [read] = source === undefined ? [{ value: document }] : texts([source]);
      return importState(ctx, read ?? { value: document });
    },
    { bodyLimit: fixtureBody, createsData: true },
  ),
  status: reads("/status", {}, async (ctx, _input, { server }) => ({
    ...(await (await import("../status.ts")).status(ctx)),
    server,
  })),
  "issuer.set": changes(
    "/issuer",
    { issuer: "string" },
    async (ctx, { issuer }) => {
      await changeIssuer(ctx, issuer);
      return { issuer: ctx.issuer };
    },
    { method: "PUT", changes: false, needsServer: true },
  ),
  /** The route ends the server once the answer is out. */
  stop: changes("/stop", {}, async (_ctx, _input, { server }) => ({ stopping: true, pid: server?.pid }), {
    changes: false,
    needsServer: true,
  }),
};
