import { run } from "../../core/admin/operations/table.ts";
import { bodyParameters } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { formatNumber, formatTime, timeZoneHere } from "../pages/templates/texts.ts";
import { changeView, statusFor, tabView, tabPage, type ShowTab } from "./tab.ts";

import { runner } from "./changes.ts";
import { listData, askedOf, listView, matches, pageOf, shownRows } from "./lists.ts";

/** Grants, with a button to revoke, and sessions, with a button to end. The newest come first. */

/** What the tab of the grants and sessions shows. */
export type GrantsView = Awaited<ReturnType<typeof grantsView>>;

async function grantsView(...[web, req, res, refusal]: Parameters<ShowTab>) {
  const { ctx } = web;
  const asked = askedOf(req, bodyParameters(req), ["q"]);
  const { q: query } = asked.filters;
  const allGrants = await run(ctx, "grants.list", {}, runner);
  const allSessions = await run(ctx, "sessions.list", {}, runner);
  const grants = allGrants
    .filter(({ user, client }) => matches(query, user, client))
    .toSorted((a, b) => b.updatedAt.localeCompare(a.updatedAt));
  const sessions = allSessions
    .filter(({ user }) => matches(query, user))
    .toSorted((a, b) => b.signedInAt.localeCompare(a.signedInAt));
  return {
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
  };
}

export const renderGrants = (renderer: Renderer, view: GrantsView): Page =>
  tabPage(renderer, view, "grants", (writer) => {
    const { lang } = writer;
    const more = (count: number): string | null => (count > 0 ? formatNumber(count, lang) : null);
    const time = (iso: string): string => formatTime(iso, lang, timeZoneHere());
    return {
      ...listData(writer, view),
      moreGrantsWords: more(view.moreGrants),
      moreSessionsWords: more(view.moreSessions),
      grants: view.grants.map((grant) => ({ ...grant, atWords: time(grant.at) })),
      sessions: view.sessions.map((session) => ({
        ...session,
        signedInWords: time(session.signedInAt),
        expiresWords: time(session.expiresAt),
      })),
    };
  });

export const showGrants: ShowTab = async (web, req, res, refusal) => {
  sendPage(res, statusFor(web, refusal), renderGrants(web.renderer, await grantsView(web, req, res, refusal)));
};
