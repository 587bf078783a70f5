import { run } from "../../core/admin/operations/table.ts";
import { bodyParameters } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage, type Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { changeView, statusFor, tabView, tabPage, type ShowTab } from "./tab.ts";

import { runner } from "./changes.ts";
import { listData, askedOf, listView, matches, pageOf } from "./lists.ts";

/** Clients, and a form for each that adds a redirect URI. */

/** What the tab of the clients shows. */
export type ClientsView = Awaited<ReturnType<typeof clientsView>>;

async function clientsView(...[web, req, res, refusal]: Parameters<ShowTab>) {
  const asked = askedOf(req, bodyParameters(req), ["q"]);
  const all = await run(web.ctx, "clients.list", {}, runner);
  const nameOf = ({ client_name: name }: (typeof all)[number]): string => (typeof name === "string" ? name : "");
  const found = all.filter((client) =>
    matches(asked.filters.q, client.client_id, nameOf(client), ...client.redirect_uris),
  );
  const part = pageOf(asked, found);
  return {
    ...tabView(web, req, res, refusal),
    ...listView(asked, part),
    addCommand: pageCommand(web, ["idp", "clients", "add", "shop", "--redirect-uri", "http://localhost:3000/callback"])
      .command,
    clients: part.rows.map((client) => ({
      id: client.client_id,
      name: nameOf(client),
      isPublic: client.public,
      redirectUris: client.redirect_uris,
      metadata: JSON.stringify(client, null, 2),
      // What a metadata document says is changed there.
      add: client.metadata_document === true ? null : changeView(web, "add-redirect-uri", client.client_id, "URI"),
    })),
  };
}

export const renderClients = (renderer: Renderer, view: ClientsView): Page =>
  tabPage(renderer, view, "clients", (writer) => listData(writer, view));

export const showClients: ShowTab = async (web, req, res, refusal) => {
  sendPage(res, statusFor(web, refusal), renderClients(web.renderer, await clientsView(web, req, res, refusal)));
};
