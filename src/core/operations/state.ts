import { changeIssuer } from "../issuers/issuer.ts";
import { issuerForm, webUrlForm } from "../identifiers.ts";
import { operatorIn } from "../operators/roles.ts";
import { changes, nothing, reads } from "./operation.ts";
import { fixtureBody, sourcesOf } from "../fixture-files/source.ts";
import { withRules } from "./schemas/rules.ts";

/** All the data at once, and the server itself. */

const given = () => import("./schemas/given.ts");
const shown = () => import("./schemas/shown.ts");

const namesExist =
  "Names must be unique, users, clients and scopes that are named must exist, the settings in force must allow it, and the text of a file must be readable: 422.";

export const stateOperations = {
  seed: changes(
    "/seed",
    {
      summary: "Apply fixtures: all or nothing",
      note: namesExist,
      input: async () => (await given()).seedInput,
      answer: async () => (await shown()).seedOutcome,
      run: async (ctx, { sources, ...fixtures }, { progress }) =>
        (await import("../seed/apply.ts")).seedNow(ctx, sources ?? [{ value: fixtures }], progress),
    },
    { bodyLimit: fixtureBody, createsData: true },
  ),
  reset: changes(
    "/reset",
    {
      summary: "Go back to the fixtures in use, or to others: discard changes, sessions, grants and tokens",
      note: `keys: renew the signing keys. ${namesExist}`,
      input: async (zod) => {
        const { fixtureFields, oneOfThem } = await given();
        return withRules(zod.strictObject({ ...fixtureFields, keys: zod.boolean().optional() }), oneOfThem);
      },
      answer: async () => (await shown()).resetResult,
      run: async (ctx, input, { progress }) => {
        const { reset } = await import("../seed/reset.ts");
        return reset(ctx, { sources: sourcesOf(input), keys: input.keys, progress });
      },
    },
    { bodyLimit: fixtureBody },
  ),
  export: reads(
    "/export",
    {
      summary: "Export all data as one document, with secrets, password hashes and private keys; or as a fixture file",
      input: async (zod) =>
        zod.strictObject({
          as: zod.enum((await import("../state/state.ts")).exportForms).optional(),
          secrets: zod
            .boolean()
            .optional()
            .describe("Fixtures with the secrets of one-time codes and the tokens of SCIM servers"),
        }),
      answer: async () => (await shown()).exported,
      run: async (ctx, input) => (await import("../transfer/export.ts")).exportState(ctx, input),
    },
    { changes: true, showsSecrets: true },
  ),
  diff: reads("/diff", {
    summary: "Compare the data with the fixtures in use",
    note: "A file that cannot be read, or has a problem: 422.",
    input: async (zod) => zod.strictObject({ as: zod.enum(["fixtures"]).optional() }),
    answer: async () => (await shown()).diffed,
    refuses: [422],
    run: async (ctx, { as }) => {
      return (await import("../seed/diff.ts")).diff(ctx, undefined, as);
    },
  }),
  "diff.given": changes(
    "/diff",
    {
      summary: "Compare the data with these fixtures; nothing is applied",
      input: async (zod) => {
        const { fixtureFields, oneOfThem } = await given();
        return withRules(zod.strictObject({ ...fixtureFields, as: zod.enum(["fixtures"]).optional() }), oneOfThem);
      },
      answer: async () => (await shown()).diffed,
      run: async (ctx, { as, ...input }) => {
        return (await import("../seed/diff.ts")).diff(ctx, sourcesOf(input), as);
      },
    },
    { bodyLimit: fixtureBody, changes: false },
  ),
  import: changes(
    "/import",
    {
      summary: "Replace all data with an export: all or nothing",
      note: "Keys must be able to sign, names must be unique, records that are named must exist, and the text of a file must be readable: 422.",
      input: async () => (await given()).importInput,
      answer: (zod) =>
        zod.object({
          users: zod.int(),
          clients: zod.int(),
          grants: zod.int(),
          sessions: zod.int(),
          keys: zod.int(),
          otherIssuer: zod.string().nullable().describe("The issuer of the tokens in the export, if it is another one"),
        }),
      run: async (ctx, { source, ...document }, { progress }) =>
        (await import("../transfer/import.ts")).importState(ctx, source ?? { value: document }, progress),
    },
    { bodyLimit: fixtureBody, createsData: true },
  ),
  status: reads("/status", {
    role: "reader",
    summary: "Show the server and what it holds",
    input: nothing,
    answer: async () => (await shown()).status,
    run: async (ctx, _input, { server, by }) => ({
      ...(await (await import("../status.ts")).status(ctx)),
      server,
      ...(by !== undefined && { operator: operatorIn(ctx, by) }),
    }),
  }),
  "issuer.set": changes(
    "/issuer",
    {
      summary:
        "Change scheme, host and port of the issuer until the server stops; tokens of the previous one become invalid",
      note: "The path must be that of the issuer so far: 422. On a shared store: 409.",
      input: (zod) =>
        zod.strictObject({
          issuer: zod
            .string()
            .regex(issuerForm, {
              error: ({ input }) =>
                `"${String(input)}" is not an http or https URL like http://host:port/path, percent-encoded`,
              abort: true,
            })
            .regex(webUrlForm, { error: "must have a possible host and port" }),
        }),
      answer: (zod) => zod.object({ issuer: zod.string() }),
      refuses: [409],
      run: async (ctx, { issuer }) => {
        await changeIssuer(ctx, issuer);
        return { issuer: ctx.issuer };
      },
    },
    { method: "PUT", changes: false, needsServer: true, ofProcess: true },
  ),
  /** The route ends the server once the answer is out. */
  stop: changes(
    "/stop",
    {
      summary: "Stop the server after this response",
      input: nothing,
      answer: (zod) => zod.object({ stopping: zod.boolean(), pid: zod.int() }),
      run: (_ctx, _input, { server }) => Promise.resolve({ stopping: true, pid: server?.pid ?? process.pid }),
    },
    { changes: false, needsServer: true, ofProcess: true },
  ),
  "fixtures.list": reads("/fixtures", {
    summary: "List the fixture files in use; a reset goes back to them",
    input: nothing,
    answer: (zod) =>
      zod.array(zod.object({ file: zod.string().describe("As it was named"), clients: zod.array(zod.string()) })),
    run: async (ctx) => (await import("../seed/apply.ts")).listFixtureFiles(ctx),
  }),
  "fixtures.check": reads("/fixtures/check", {
    summary: "Read the fixtures in use again and check them; nothing is applied",
    note: "A file that cannot be read, or has a problem: 422.",
    input: nothing,
    answer: (zod) => zod.object({ files: zod.array(zod.string()).describe("As they were named") }),
    refuses: [422],
    run: async (ctx) => (await import("../seed/apply.ts")).checkFixturesInUse(ctx),
  }),
  "fixtures.apply": changes("/fixtures/apply", {
    summary: "Read the fixtures in use again and apply them: all or nothing",
    note: "A file that cannot be read, or has a problem: 422.",
    input: nothing,
    answer: async () => (await shown()).seedOutcome,
    run: async (ctx, _input, { progress }) => (await import("../seed/apply.ts")).applyFixturesInUse(ctx, progress),
  }),
};
