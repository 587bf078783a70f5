import { changes, creates, edits, reads, removes } from "./operation.ts";

/** Clients. */

const clients = () => import("../clients/admin.ts");
const clientsEdit = () => import("../clients/edit.ts");

export const clientOperations = {
  "clients.list": reads("/clients", { secrets: "boolean?" }, async (ctx, input) =>
    (await clients()).listClients(ctx, input),
  ),
  "clients.show": reads("/clients/:client_id", { client_id: "string", secrets: "boolean?" }, async (ctx, input) =>
    (await clients()).showClient(ctx, input),
  ),
  "clients.add": changes(
    "/clients",
    { entry: "body" },
    async (ctx, input) => (await clientsEdit()).addClient(ctx, input),
    creates,
  ),
  "clients.edit": changes(
    "/clients/:client_id",
    { client_id: "string", entry: "body" },
    async (ctx, input) => (await clientsEdit()).editClient(ctx, input),
    edits,
  ),
  "clients.remove": changes(
    "/clients/:client_id",
    { client_id: "string" },
    async (ctx, input) => (await clientsEdit()).removeClient(ctx, input),
    removes,
  ),
  "clients.rotate-secret": changes(
    "/clients/:client_id/rotate-secret",
    { client_id: "string", client_secret: "string?" },
    async (ctx, input) => (await clientsEdit()).rotateSecret(ctx, input),
  ),
};
