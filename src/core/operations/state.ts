import { OperationError } from "../errors.ts";
import type { FixtureSource } from "../fixtures/read/source.ts";
import { changeIssuer } from "../issuer.ts";
import { changes, reads } from "./operation.ts";

/** All the data at once, and the server itself. */

/** 64 MB for fixtures and exports (CONTRACT 2.6). */
const fixtureBody = 64 * 1024 * 1024;

/** Fixture files that a command has read: their names are in what is wrong with them. @throws {OperationError} usage */
const texts = (sources: readonly unknown[]): FixtureSource[] =>
  sources.map((source) => {
    const { name, text, ...others } = Object(source) as Readonly<Record<string, unknown>>;
    const isPlain = Object.keys(others).length === 0;
    if (typeof name === "string" && typeof text === "string" && isPlain) return { name, text };
    throw new OperationError("usage", "each source must have a name and a text, and nothing else");
  });

/** Files, or one document. @throws {OperationError} usage, for both at once */
function meantBy(sources: readonly unknown[] | undefined, document: unknown): readonly FixtureSource[] | undefined {
  if (sources === undefined) return document === undefined ? undefined : [{ value: document }];
  if (document === undefined) return texts(sources);
  throw new OperationError("usage", "give sources or a document, not both");
}

export const stateOperations = {
  seed: changes(
    "/seed",
    {
      sources: "array?",
      ...{
        users: "any?",
        clients: "any?",
        scopes: "any?",
        grants: "any?",
        settings: "any?",
        faults: "any?",
        $schema: "any?",
      },
    },
    async (ctx, { sources, ...fixtures }, { progress }) => {
      const [{ seed }, { faultsOf }, { tellAll }] = await Promise.all([
        import("../fixtures/apply/seed.ts"),
        import("../testing/faults/fault-admin.ts"),
        import("../logout/backchannel.ts"),
      ]);
      const isGiven = Object.values(fixtures).some((value) => value !== undefined);
      const meant = meantBy(sources, isGiven ? fixtures : undefined) ?? [{ value: {} }];
      try {
        const seeded = await seed(ctx, meant, { mode: "now", progress, onEnded: (ended) => tellAll(ctx, ended) });
        const faults = await faultsOf(meant);
        if (faults.length > 0) ctx.faults.putFixtures(faults);
        return seeded;
      } finally {
        // Whatever became of the passwords.
        await ctx.reloadSettings();
      }
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
      (await import("../fixtures/state/export.ts")).exportState(ctx, input),
    ),
    changes: true,
  },
  import: changes(
    "/import",
    { document: "body" },
    async (ctx, { document }) => {
      const { importState } = await import("../fixtures/state/import.ts");
      const { source, ...others } = document;
      if (source !== undefined && Object.keys(others).length > 0) {
        throw new OperationError(
          "usage",
          "source came with a document beside it, and only one of the two can be meant",
        );
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
      changeIssuer(ctx, issuer);
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
