import { operations } from "../../core/operations/table.ts";
import { bodyParameters } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage } from "../pages/page-writer.ts";
import { runner } from "./changes.ts";
import { askedOf, listView, matches, pageOf } from "./lists.ts";
import { changeView, statusFor, tabView, type ShowTab } from "./tab.ts";
import { renderClients } from "./views.ts";

/** Clients, and a form for each that adds a redirect URI. */

export const showClients: ShowTab = async (web, req, res, refusal) => {
  const asked = askedOf(req, bodyParameters(req), ["q"]);
  const all = await operations["clients.list"].run(web.ctx, {}, runner);
  const nameOf = ({ client_name: name }: (typeof all)[number]): string => (typeof name === "string" ? name : "");
  const found = all.filter((client) =>
    matches(asked.filters.q, client.client_id, nameOf(client), ...client.redirect_uris),
  );
  const part = pageOf(asked, found);
  const page = renderClients(web.renderer, {
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
  });
  sendPage(res, statusFor(web, refusal), page);
};
