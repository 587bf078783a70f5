import * as z from "zod";
import { declare, nothing } from "./operation.ts";
import * as given from "./schemas/given.ts";
import * as shown from "./schemas/shown.ts";
import { changeIssuer } from "../../records/issuers/issuer.ts";
import { issuerForm, webUrlForm } from "../../base/identifiers.ts";
import { operatorIn } from "../../records/operators/roles.ts";
import { sourcesOf } from "../../base/fixture-files/source.ts";
import { withRules } from "./schemas/rules.ts";
import { exportForms } from "../../testing/state/state.ts";

/** All the data at once, and the server itself. */

const namesExist =
  "Names must be unique, users, clients and scopes that are named must exist, the settings in force must allow it, and the text of a file must be readable: 422.";

export const stateOperations = {
  seed: declare({
    note: namesExist,
    input: given.seedInput,
    answer: shown.seedOutcome,
    run: async (ctx, { sources, ...fixtures }, { progress }) =>
      (await import("../seed/apply.ts")).seedNow(ctx, sources ?? [{ value: fixtures }], progress),
  }),
  reset: declare({
    note: `keys: renew the signing keys. ${namesExist}`,
    input: withRules(z.strictObject({ ...given.fixtureFields, keys: z.boolean().optional() }), given.oneOfThem),
    answer: shown.resetResult,
    run: async (ctx, input, { progress }) => {
      const { reset } = await import("../seed/reset.ts");
      return reset(ctx, { sources: sourcesOf(input), keys: input.keys, progress });
    },
  }),
  export: declare({
    input: z.strictObject({
      as: z.enum(exportForms).optional(),
      secrets: z
        .boolean()
        .optional()
        .describe("Fixtures with the secrets of one-time codes and the tokens of SCIM servers"),
    }),
    answer: shown.exported,
    run: async (ctx, input) => (await import("../transfer/export.ts")).exportState(ctx, input),
  }),
  diff: declare({
    note: "A file that cannot be read, or has a problem: 422.",
    input: z.strictObject({ as: z.enum(["fixtures"]).optional() }),
    answer: shown.diffed,
    refuses: [422],
    run: async (ctx, { as }) => {
      return (await import("../seed/diff.ts")).diff(ctx, undefined, as);
    },
  }),
  "diff.given": declare({
    input: withRules(z.strictObject({ ...given.fixtureFields, as: z.enum(["fixtures"]).optional() }), given.oneOfThem),
    answer: shown.diffed,
    run: async (ctx, { as, ...input }) => {
      return (await import("../seed/diff.ts")).diff(ctx, sourcesOf(input), as);
    },
  }),
  import: declare({
    note: "Keys must be able to sign, names must be unique, records that are named must exist, and the text of a file must be readable: 422.",
    input: given.importInput,
    answer: z.object({
      users: z.int(),
      clients: z.int(),
      grants: z.int(),
      sessions: z.int(),
      keys: z.int(),
      otherIssuer: z.string().nullable().describe("The issuer of the tokens in the export, if it is another one"),
    }),
    run: async (ctx, { source, ...document }, { progress }) =>
      (await import("../transfer/import.ts")).importState(ctx, source ?? { value: document }, progress),
  }),
  status: declare({
    input: nothing,
    answer: shown.status,
    run: async (ctx, _input, { server, by }) => ({
      ...(await (await import("../../testing/status.ts")).status(ctx)),
      server,
      ...(by !== undefined && { operator: operatorIn(ctx, by) }),
    }),
  }),
  "issuer.set": declare({
    note: "The path must be that of the issuer so far: 422. On a shared store: 409.",
    input: z.strictObject({
      issuer: z
        .string()
        .regex(issuerForm, {
          error: ({ input }) =>
            `"${String(input)}" is not an http or https URL like http://host:port/path, percent-encoded`,
          abort: true,
        })
        .regex(webUrlForm, { error: "must have a possible host and port" }),
    }),
    answer: z.object({ issuer: z.string() }),
    refuses: [409],
    run: async (ctx, { issuer }) => {
      await changeIssuer(ctx, issuer);
      return { issuer: ctx.issuer };
    },
  }),
  /** The route ends the server once the answer is out. */
  stop: declare({
    input: nothing,
    answer: z.object({ stopping: z.boolean(), pid: z.int() }),
    run: (_ctx, _input, { server }) => Promise.resolve({ stopping: true, pid: server?.pid ?? process.pid }),
  }),
  "fixtures.list": declare({
    input: nothing,
    answer: z.array(z.object({ file: z.string().describe("As it was named"), clients: z.array(z.string()) })),
    run: async (ctx) => (await import("../seed/apply.ts")).listFixtureFiles(ctx),
  }),
  "fixtures.check": declare({
    note: "A file that cannot be read, or has a problem: 422.",
    input: nothing,
    answer: z.object({ files: z.array(z.string()).describe("As they were named") }),
    refuses: [422],
    run: async (ctx) => (await import("../seed/apply.ts")).checkFixturesInUse(ctx),
  }),
  "fixtures.apply": declare({
    note: "A file that cannot be read, or has a problem: 422.",
    input: nothing,
    answer: shown.seedOutcome,
    run: async (ctx, _input, { progress }) => (await import("../seed/apply.ts")).applyFixturesInUse(ctx, progress),
  }),
};
