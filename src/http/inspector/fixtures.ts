import type { Context } from "../../core/context.ts";
import { OperationError, problemText } from "../../core/errors.ts";
import { checkFixturesInUse } from "../../core/seed/apply.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage } from "../pages/page-writer.ts";
import { statusFor, tabView, type ShowTab } from "./tab.ts";
import { renderFixtures } from "./views.ts";

/** The fixtures in use, and the problems of their files as they are now. */

/** Reads the files again, because they may have changed since the start. */
async function problemsIn(ctx: Context): Promise<readonly string[]> {
  try {
    await checkFixturesInUse(ctx);
    return [];
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    return error.problems.length === 0 ? [error.message] : error.problems.map(problemText);
  }
}

export const showFixtures: ShowTab = async (web, req, res, refusal) => {
  const { ctx } = web;
  const sources = ctx.fixtures.sources().map((source) => ("name" in source ? source.name : null));
  const files = sources.filter((name) => name !== null);
  const page = renderFixtures(web.renderer, {
    ...tabView(web, req, res, refusal),
    sources,
    problems: await problemsIn(ctx),
    ...pageCommand(web, ["idp", "seed", "--check", ...files]),
  });
  sendPage(res, statusFor(web, refusal), page);
};
