import { nothing, reads } from "./operation.ts";

/** Fixture files. */

export const fixtureOperations = {
  "fixtures.list": reads("/fixtures", {
    summary: "List the fixture files in use; a reset goes back to them",
    input: nothing,
    answer: (zod) =>
      zod.array(zod.object({ file: zod.string().describe("As it was named"), clients: zod.array(zod.string()) })),
    run: async (ctx) => (await import("../fixtures/apply/in-use.ts")).listFixtureFiles(ctx),
  }),
};
