import * as z from "zod";
import { declare, none } from "./operation.ts";
import * as given from "./schemas/given.ts";
import * as shown from "./schemas/shown.ts";

/** Clients. */

const clients = () => import("../../records/clients/admin.ts");
const clientsEdit = () => import("../edit/clients.ts");

const bySettings =
  "The settings http_redirect_hosts and any_loopback_port decide whether plain http beyond loopback and open ports are allowed: 409.";

export const clientOperations = {
  "clients.list": declare({
    input: z.strictObject({ secrets: z.boolean().optional() }),
    answer: z.array(shown.client),
    run: async (ctx, input) => (await clients()).listClients(ctx, input),
  }),
  "clients.show": declare({
    input: z.strictObject({ client_id: z.string(), secrets: z.boolean().optional() }),
    answer: shown.client,
    refuses: [404],
    run: async (ctx, input) => (await clients()).showClient(ctx, input),
  }),
  "clients.add": declare({
    note: bySettings,
    input: given.clientInput,
    answer: shown.client,
    refuses: [409],
    run: async (ctx, input) => (await clientsEdit()).addClient(ctx, input),
  }),
  "clients.edit": declare({
    note: `What does not fit the other metadata of the client: 409. ${bySettings}`,
    input: given.clientPatch,
    answer: shown.client,
    refuses: [404, 409],
    run: async (ctx, { client_id, new_client_id, ...metadata }) =>
      (await clientsEdit()).editClient(ctx, client_id, {
        ...metadata,
        ...(new_client_id !== undefined && { client_id: new_client_id }),
      }),
  }),
  "clients.remove": declare({
    input: z.strictObject({ client_id: z.string() }),
    answer: none,
    refuses: [404],
    run: async (ctx, input) => (await clientsEdit()).removeClient(ctx, input),
  }),
  "clients.rotate-secret": declare({
    input: z.strictObject({
      client_id: z.string(),
      client_secret: z.string().min(1, { error: "is empty; give it a value or leave it out" }).optional(),
    }),
    answer: shown.client,
    refuses: [404, 409],
    run: async (ctx, input) => (await clientsEdit()).rotateSecret(ctx, input),
  }),
};
