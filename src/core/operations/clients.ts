import { changes, creates, edits, none, reads, removes } from "./operation.ts";
import type { Zod } from "./schemas/zod.ts";

/** Clients, and what their SCIM servers are sent. */

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

const push = () => import("../scim/push.ts");
const status = () => import("../scim/status.ts");

const profile = async (zod: Zod) => zod.enum((await import("../../scim/profiles.ts")).profileNames);
const client = (zod: Zod) => zod.string().optional().describe("A client_id; absent: every client with scim");

/** The answer about one client, or a list of them. */
const oneOrAll = <S extends ReturnType<Zod["object"]>>(zod: Zod, schema: S) => zod.union([schema, zod.array(schema)]);

const known = (zod: Zod) => ({
  id: zod.string().nullable().describe("In the app; null: it does not have it"),
  pushedAt: zod.string().nullable().describe("ISO 8601; null: never"),
  pending: zod.boolean().describe("Whether the next push sends something about it"),
  error: zod.string().nullable().describe("Why the last push failed; null: it did not"),
});

export const scimOperations = {
  "scim.push": changes("/scim/push", {
    summary: "Send apps the users and groups that differ from the last push",
    note: "A client without scim: 404. What the app answers is in the report.",
    input: async (zod) =>
      zod.strictObject({
        client: client(zod),
        user: zod
          .union([zod.string(), zod.array(zod.string())])
          .optional()
          .describe("Only these users, by username or id, and no groups"),
        profile: (await profile(zod)).optional().describe("In place of the client's own"),
        dry_run: zod.boolean().optional().describe("Answer with the requests, and send none"),
        full: zod.boolean().optional().describe("Send everything, also what did not change"),
        parallel: (await import("./schemas/given.ts"))
          .whole(1, 8)
          .optional()
          .describe("How many users at a time; absent: 1"),
      }),
    answer: async (zod) => oneOrAll(zod, (await import("./schemas/shown-scim.ts")).pushReport),
    refuses: [404],
    run: async (ctx, input, { progress }) => (await push()).pushScim(ctx, input, progress),
  }),
  "scim.status": reads("/scim/status", {
    summary: "List what each app has of users and groups, and what is pending",
    input: (zod) => zod.strictObject({ client: client(zod) }),
    answer: (zod) =>
      oneOrAll(
        zod,
        zod.object({
          client: zod.string(),
          users: zod.array(zod.object({ username: zod.string(), ...known(zod) })),
          groups: zod.array(zod.object({ name: zod.string(), ...known(zod) })),
        }),
      ),
    refuses: [404],
    run: async (ctx, input) => (await status()).scimStatus(ctx, input),
  }),
  "scim.test": changes(
    "/scim/test",
    {
      summary: "Ask the SCIM server of an app what the console of the vendor asks at Test Connection",
      input: async (zod) =>
        zod.strictObject({
          client: client(zod),
          profile: (await profile(zod)).optional().describe("In place of the client's own"),
        }),
      answer: async (zod) =>
        oneOrAll(
          zod,
          zod.object({
            client: zod.string(),
            url: zod.string(),
            profile: await profile(zod),
            ok: zod.boolean(),
            status: zod.int().nullable().describe("Null: nobody answered"),
            error: zod.string().nullable(),
          }),
        ),
      refuses: [404],
      run: async (ctx, input) => (await status()).testScim(ctx, input),
    },
    { changes: false },
  ),
};
