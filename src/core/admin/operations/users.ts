import * as z from "zod";
import { declare, none } from "./operation.ts";
import * as given from "./schemas/given.ts";
import { whole } from "./schemas/times.ts";
import { statusChange, user } from "./schemas/shown-users.ts";

/** Users, and their status. */

const users = () => import("../../records/users/users.ts");
const factors = () => import("../../sign-in/factors/admin.ts");
const leave = () => import("../edit/leave.ts");
const usersEdit = () => import("../edit/users.ts");

const one = z.strictObject({ username: z.string() });

export const userOperations = {
  "users.list": declare({
    input: z.strictObject({ limit: whole(0, 999_999_999).optional().describe("The most to list") }),
    answer: z.array(user),
    run: async (ctx, input) => (await users()).listUsers(ctx, input),
  }),
  "users.show": declare({
    input: one,
    answer: user,
    refuses: [404],
    run: async (ctx, input) => (await users()).showUser(ctx, input),
  }),
  "users.otp": declare({
    input: one,
    answer: z.object({
      code: z.string().nullable().describe("Null: none is left that lasts for at least 15 s"),
      expiresIn: z.number().nullable().describe("Seconds until the code is no longer accepted"),
      availableIn: z.number().describe("Seconds until there is a code; 0: there is one"),
      uri: z.string().optional().describe("What an authenticator app reads; only for an admin"),
    }),
    refuses: [404, 409],
    run: async (ctx, input, { by }) => {
      const { uri, ...code } = await (await factors()).showCode(ctx, input);
      // Whoever has it can make every later code.
      const forAdmin: { readonly uri?: string | undefined } = by === undefined || by.role === "admin" ? { uri } : {};
      return { ...code, ...forAdmin };
    },
  }),
  "users.add": declare({
    input: given.userInput,
    answer: user,
    refuses: [409],
    run: async (ctx, input) => (await usersEdit()).addUser(ctx, input),
  }),
  "users.edit": declare({
    input: given.userPatch,
    answer: user,
    refuses: [404, 409],
    run: async (ctx, { username, new_username, ...fields }) =>
      (await usersEdit()).editUser(ctx, username, {
        ...fields,
        ...(new_username !== undefined && { username: new_username }),
      }),
  }),
  "users.remove": declare({
    input: one,
    answer: none,
    refuses: [404],
    run: async (ctx, input) => (await usersEdit()).removeUser(ctx, input),
  }),
  "users.suspend": declare({
    input: one,
    answer: statusChange,
    refuses: [404, 409],
    run: async (ctx, input) => (await usersEdit()).suspendUser(ctx, input),
  }),
  "users.ban": declare({
    input: one,
    answer: statusChange,
    refuses: [404],
    run: async (ctx, input) => (await usersEdit()).banUser(ctx, input),
  }),
  "users.restore": declare({
    input: one,
    answer: statusChange,
    refuses: [404],
    run: async (ctx, input) => (await leave()).restoreEverywhere(ctx, input),
  }),
  "users.leave": declare({
    input: one,
    answer: z.object({
      user: z.string(),
      signals: z.array(
        z.object({
          client: z.string(),
          signal: z.enum(["backchannel-logout", "scim", "global-token-revocation"]),
          status: z.int().nullable().describe("Null: nobody answered"),
          ms: z.number(),
          error: z.string().nullable().describe("Why it failed; null: it did not"),
        }),
      ),
    }),
    refuses: [404, 409],
    run: async (ctx, input, { progress }) => (await leave()).leaveUser(ctx, input, progress),
  }),
};
