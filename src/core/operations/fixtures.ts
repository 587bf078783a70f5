import { reads } from "./operation.ts";

/** Fixture files. */

export const fixtureOperations = {
  "fixtures.list": reads("/fixtures", {}, async (ctx) =>
    (await import("../fixtures/apply/in-use.ts")).listFixtureFiles(ctx),
  ),
};
