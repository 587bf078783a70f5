import { changes, creates, edits, none, reads, removes } from "./operation.ts";
import type { Zod } from "./schemas/zod.ts";

/** Users, and their status. */

const users = () => import("../users/users.ts");
const factors = () => import("../factors/admin.ts");
const leave = () => import("../edit/leave.ts");
const usersEdit = () => import("../edit/users.ts");
const given = () => import("./schemas/given.ts");
const shown = () => import("./schemas/shown.ts");

const one = (zod: Zod) => zod.strictObject({ username: zod.string() });

export const userOperations = {
  "users.list": reads("/users", {
    role: "reader",
    summary: "List users, in the order they were added",
    input: async (zod) =>
      zod.strictObject({ limit: (await given()).whole(0, 999_999_999).optional().describe("The most to list") }),
    answer: async (zod) => zod.array((await shown()).user),
    run: async (ctx, input) => (await users()).listUsers(ctx, input),
  }),
  "users.show": reads("/users/:username", {
    role: "reader",
    summary: "Show a user",
    input: one,
    answer: async () => (await shown()).user,
    refuses: [404],
    run: async (ctx, input) => (await users()).showUser(ctx, input),
  }),
  "users.otp": reads("/users/:username/otp", {
    role: "tester",
    summary: "Show the one-time code of a user that can be typed now",
    input: one,
    answer: (zod) =>
      zod.object({
        code: zod.string().nullable().describe("Null: none is left that lasts for at least 15 s"),
        expiresIn: zod.number().nullable().describe("Seconds until the code is no longer accepted"),
        availableIn: zod.number().describe("Seconds until there is a code; 0: there is one"),
        uri: zod.string().optional().describe("What an authenticator app reads; only for an admin"),
      }),
    refuses: [404, 409],
    run: async (ctx, input, { by }) => {
      const { uri, ...code } = await (await factors()).showCode(ctx, input);
      // Whoever has it can make every later code.
      const forAdmin: { readonly uri?: string | undefined } = by === undefined || by.role === "admin" ? { uri } : {};
      return { ...code, ...forAdmin };
    },
  }),
  "users.add": changes(
    "/users",
    {
      summary: "Add a user; a username is enough",
      input: async () => (await given()).userInput,
      answer: async () => (await shown()).user,
      refuses: [409],
      run: async (ctx, input) => (await usersEdit()).addUser(ctx, input),
    },
    creates,
  ),
  "users.edit": changes(
    "/users/:username",
    {
      summary: "Change fields of a user; each replaces the old value",
      input: async () => (await given()).userPatch,
      answer: async () => (await shown()).user,
      refuses: [404, 409],
      run: async (ctx, { username, new_username, ...fields }) =>
        (await usersEdit()).editUser(ctx, username, {
          ...fields,
          ...(new_username !== undefined && { username: new_username }),
        }),
    },
    edits,
  ),
  "users.remove": changes(
    "/users/:username",
    {
      summary: "Remove a user with their grants and sessions",
      input: one,
      answer: none,
      refuses: [404],
      run: async (ctx, input) => (await usersEdit()).removeUser(ctx, input),
    },
    removes,
  ),
  "users.suspend": changes("/users/:username/suspend", {
    role: "tester",
    summary: "Suspend a user: no sign-in, and tokens get 403 until the user is restored",
    input: one,
    answer: async () => (await shown()).statusChange,
    refuses: [404, 409],
    run: async (ctx, input) => (await usersEdit()).suspendUser(ctx, input),
  }),
  "users.ban": changes("/users/:username/ban", {
    role: "tester",
    summary: "Ban a user: sessions end, and grants are revoked permanently",
    input: one,
    answer: async () => (await shown()).statusChange,
    refuses: [404],
    run: async (ctx, input) => (await usersEdit()).banUser(ctx, input),
  }),
  "users.restore": changes("/users/:username/restore", {
    role: "tester",
    summary: "Make a suspended or banned user active again",
    input: one,
    answer: async () => (await shown()).statusChange,
    refuses: [404],
    run: async (ctx, input) => (await leave()).restoreEverywhere(ctx, input),
  }),
  "users.leave": changes("/users/:username/leave", {
    role: "tester",
    summary:
      "Suspend a user, end their sessions, and tell every app: back-channel logout, SCIM, Global Token Revocation",
    input: one,
    answer: (zod) =>
      zod.object({
        user: zod.string(),
        signals: zod.array(
          zod.object({
            client: zod.string(),
            signal: zod.enum(["backchannel-logout", "scim", "global-token-revocation"]),
            status: zod.int().nullable().describe("Null: nobody answered"),
            ms: zod.number(),
            error: zod.string().nullable().describe("Why it failed; null: it did not"),
          }),
        ),
      }),
    refuses: [404, 409],
    run: async (ctx, input, { progress }) => (await leave()).leaveUser(ctx, input, progress),
  }),
};
