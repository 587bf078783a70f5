import * as z from "zod";
import { profileNames } from "../../../../scim/profiles.ts";

/** Schemas of what pushes to SCIM servers return. */

const pushed = {
  action: z.enum(["created", "matched", "updated", "deactivated", "reactivated", "removed", "unchanged", "failed"]),
  status: z.int().nullable().describe("Of the last answer; null: nothing was sent, or nobody answered"),
  id: z.string().nullable().describe("In the app"),
  error: z.string().nullable(),
};

const planned = z.object({ method: z.string(), url: z.string(), body: z.unknown() });

export const pushReport = z
  .object({
    client: z.string(),
    url: z.string(),
    profile: z.enum(profileNames),
    users: z.array(z.object({ username: z.string(), ...pushed })),
    groups: z.array(z.object({ name: z.string(), ...pushed, members: z.int() })),
    inSync: z.boolean().describe("Whether the app has everything now"),
    requests: z.exactOptional(z.array(planned)).describe("With dry_run: what would be sent"),
  })
  .describe("What a push did with one app");
