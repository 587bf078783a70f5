import { changes, reads } from "./operation.ts";
import type { Later } from "./schemas/later.ts";

/** The provisioning client: what apps with a SCIM server are sent. */

const push = () => import("../scim/push.ts");
const status = () => import("../scim/status.ts");
type Zod = Parameters<Later<unknown>>[0];

const profile = async (zod: Zod) => zod.enum((await import("../client-metadata/provisioning.ts")).scimProfiles);
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
    run: async (ctx, input) => (await push()).pushScim(ctx, input),
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
