import { operations } from "../../core/operations/table.ts";
import { bodyParameters } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage } from "../pages/page-writer.ts";
import { runner } from "./changes.ts";
import { askedOf, listView, matches, pageOf, shownRows } from "./lists.ts";
import { changeView, statusFor, tabView, type ShowTab } from "./tab.ts";
import { renderGrants } from "./views.ts";

/** Grants, with a button to revoke, and sessions, with a button to end. The newest come first. */

export const showGrants: ShowTab = async (web, req, res, refusal) => {
  const { ctx } = web;
  const asked = askedOf(req, bodyParameters(req), ["q"]);
  const { q: query } = asked.filters;
  const allGrants = await operations["grants.list"].run(ctx, {}, runner);
  const allSessions = await operations["sessions.list"].run(ctx, {}, runner);
  const grants = allGrants
    .filter(({ user, client }) => matches(query, user, client))
    .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  const sessions = allSessions
    .filter(({ user }) => matches(query, user))
    .toSorted((a, b) => b.signedInAt.localeCompare(a.signedInAt));
  const page = renderGrants(web.renderer, {
    ...tabView(web, req, res, refusal),
    ...listView(asked, pageOf(asked, [])),
    signInCommand: pageCommand(web, ["idp", "login"]).command,
    moreGrants: Math.max(0, grants.length - shownRows),
    moreSessions: Math.max(0, sessions.length - shownRows),
    grants: grants.slice(0, shownRows).map((grant) => ({
      ...{ id: grant.id, user: grant.user, client: grant.client, scope: grant.scope, status: grant.status },
      at: grant.updatedAt,
      revoke: grant.status === "active" ? changeView(web, "revoke", grant.id) : null,
    })),
    sessions: sessions
      .slice(0, shownRows)
      .map((session) => ({ ...session, end: changeView(web, "end-session", session.id) })),
  });
  sendPage(res, statusFor(web, refusal), page);
};
