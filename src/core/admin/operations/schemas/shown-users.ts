import * as z from "zod";
import { userSchema } from "../../../records/users/schema.ts";

/** Schemas of users as operations return them. */

export const user = z
  .object({
    ...userSchema.required().omit({ password: true, avatar: true, otp_secret: true, federated: true }).shape,
    federated: z.exactOptional(userSchema.shape.federated.unwrap()),
    avatar: z.object({ baseUrl: z.string().nullable(), path: z.string(), color: z.string() }),
    hasPassword: z.boolean(),
  })
  .describe("A user as it is shown: without the password or its hash");

export const statusChange = user.extend({
  previousStatus: z.enum(["active", "suspended", "banned"]),
  sessionsEnded: z.int(),
  grantsRevoked: z.int(),
});
