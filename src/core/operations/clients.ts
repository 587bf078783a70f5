import { changes, creates, edits, none, reads, removes } from "./operation.ts";

/** Clients. */

const clients = () => import("../clients/admin.ts");
const clientsEdit = () => import("../edit/clients.ts");
const given = () => import("./schemas/given.ts");
const shown = () => import("./schemas/shown.ts");

const bySettings =
  "The settings http_redirect_hosts and any_loopback_port decide whether plain http beyond loopback and open ports are allowed: 409.";

export const clientOperations = {
  "clients.list": reads("/clients", {
    role: "reader",
    summary: "List clients, in the order they were added",
    input: (zod) => zod.strictObject({ secrets: zod.boolean().optional() }),
    answer: async (zod) => zod.array((await shown()).client),
    run: async (ctx, input) => (await clients()).listClients(ctx, input),
  }),
  "clients.show": reads("/clients/:client_id", {
    role: "reader",
    summary: "Show a client",
    input: (zod) => zod.strictObject({ client_id: zod.string(), secrets: zod.boolean().optional() }),
    answer: async () => (await shown()).client,
    refuses: [404],
    run: async (ctx, input) => (await clients()).showClient(ctx, input),
  }),
  "clients.add": changes(
    "/clients",
    {
      summary: "Add a client; a missing secret is generated and shown",
      note: bySettings,
      input: async () => (await given()).clientInput,
      answer: async () => (await shown()).client,
      refuses: [409],
      run: async (ctx, input) => (await clientsEdit()).addClient(ctx, input),
    },
    creates,
  ),
  "clients.edit": changes(
    "/clients/:client_id",
    {
      summary: "Change metadata of a client; null removes a field",
      note: `What does not fit the other metadata of the client: 409. ${bySettings}`,
      input: async () => (await given()).clientPatch,
      answer: async () => (await shown()).client,
      refuses: [404, 409],
      run: async (ctx, { client_id, new_client_id, ...metadata }) =>
        (await clientsEdit()).editClient(ctx, client_id, {
          ...metadata,
          ...(new_client_id !== undefined && { client_id: new_client_id }),
        }),
    },
    edits,
  ),
  "clients.remove": changes(
    "/clients/:client_id",
    {
      summary: "Remove a client with its grants",
      input: (zod) => zod.strictObject({ client_id: zod.string() }),
      answer: none,
      refuses: [404],
      run: async (ctx, input) => (await clientsEdit()).removeClient(ctx, input),
    },
    removes,
  ),
  "clients.rotate-secret": changes("/clients/:client_id/rotate-secret", {
    summary: "Give a client a new secret; a missing one is generated and shown",
    input: (zod) =>
      zod.strictObject({
        client_id: zod.string(),
        client_secret: zod.string().min(1, { error: "is empty; give it a value or leave it out" }).optional(),
      }),
    answer: async () => (await shown()).client,
    refuses: [404, 409],
    run: async (ctx, input) => (await clientsEdit()).rotateSecret(ctx, input),
  }),
};
