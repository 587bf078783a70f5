import * as z from "zod";
import { profileNames } from "../../../scim/profiles.ts";
import { declare } from "./operation.ts";
import { whole } from "./schemas/times.ts";
import * as shownScim from "./schemas/shown-scim.ts";

/** What the SCIM servers of clients are sent. */

const push = () => import("../../scim/push.ts");
const status = () => import("../../scim/status.ts");

const profile = z.enum(profileNames);
const client = z.string().optional().describe("A client_id; absent: every client with scim");

/** The answer about one client, or a list of them. */
const oneOrAll = <S extends z.ZodObject>(schema: S) => z.union([schema, z.array(schema)]);

const known = {
  id: z.string().nullable().describe("In the app; null: it does not have it"),
  pushedAt: z.string().nullable().describe("ISO 8601; null: never"),
  pending: z.boolean().describe("Whether the next push sends something about it"),
  error: z.string().nullable().describe("Why the last push failed; null: it did not"),
};

export const scimOperations = {
  "scim.push": declare({
    note: "A client without scim: 404. What the app answers is in the report.",
    input: z.strictObject({
      client,
      user: z
        .union([z.string(), z.array(z.string())])
        .optional()
        .describe("Only these users, by username or id, and no groups"),
      profile: profile.optional().describe("In place of the client's own"),
      dry_run: z.boolean().optional().describe("Answer with the requests, and send none"),
      full: z.boolean().optional().describe("Send everything, also what did not change"),
      parallel: whole(1, 8).optional().describe("How many users at a time; absent: 1"),
    }),
    answer: oneOrAll(shownScim.pushReport),
    refuses: [404],
    run: async (ctx, input, { progress }) => (await push()).pushScim(ctx, input, progress),
  }),
  "scim.status": declare({
    input: z.strictObject({ client }),
    answer: oneOrAll(
      z.object({
        client: z.string(),
        users: z.array(z.object({ username: z.string(), ...known })),
        groups: z.array(z.object({ name: z.string(), ...known })),
      }),
    ),
    refuses: [404],
    run: async (ctx, input) => (await status()).scimStatus(ctx, input),
  }),
  "scim.test": declare({
    input: z.strictObject({
      client,
      profile: profile.optional().describe("In place of the client's own"),
    }),
    answer: oneOrAll(
      z.object({
        client: z.string(),
        url: z.string(),
        profile,
        ok: z.boolean(),
        status: z.int().nullable().describe("Null: nobody answered"),
        error: z.string().nullable(),
      }),
    ),
    refuses: [404],
    run: async (ctx, input) => (await status()).testScim(ctx, input),
  }),
};
