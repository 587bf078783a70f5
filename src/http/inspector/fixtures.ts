import type { Context } from "../../core/context.ts";
import { OperationError, problemText } from "../../core/base/errors.ts";
import { checkFixturesInUse } from "../../core/admin/seed/apply.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { plainPageHeaders } from "../answer/security-headers.ts";
import { statusFor, tabView, tabPage, type ShowTab } from "./tab.ts";

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

/** What the tab of the fixtures shows. */
export type FixturesView = Awaited<ReturnType<typeof fixturesView>>;

async function fixturesView(...[web, req, res, refusal]: Parameters<ShowTab>) {
  const { ctx } = web;
  const sources = ctx.fixtures.sources().map((source) => ("name" in source ? source.name : null));
  const files = sources.filter((name) => name !== null);
  return {
    ...tabView(web, req, res, refusal),
    sources,
    problems: await problemsIn(ctx),
    ...pageCommand(web, ["idp", "seed", "--check", ...files]),
  };
}

export const renderFixtures = (renderer: Renderer, view: FixturesView): Page =>
  tabPage(renderer, view, "fixtures", () => ({}), { headers: plainPageHeaders });

export const showFixtures: ShowTab = async (web, req, res, refusal) => {
  sendPage(res, statusFor(web, refusal), renderFixtures(web.renderer, await fixturesView(web, req, res, refusal)));
};
