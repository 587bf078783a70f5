import { changes, creates, edits, reads, removes } from "./operation.ts";

/** Users, and their status. */

const users = () => import("../users/users.ts");
const factors = () => import("../factors/admin.ts");
const usersEdit = () => import("../users/edit.ts");

export const userOperations = {
  "users.list": reads("/users", { limit: "number?" }, async (ctx, input) => (await users()).listUsers(ctx, input)),
  "users.show": reads("/users/:username", { username: "string" }, async (ctx, input) =>
    (await users()).showUser(ctx, input),
  ),
  "users.otp": reads("/users/:username/otp", { username: "string" }, async (ctx, input) =>
    (await factors()).showCode(ctx, input),
  ),
  "users.add": changes(
    "/users",
    { entry: "body" },
    async (ctx, input) => (await usersEdit()).addUser(ctx, input),
    creates,
  ),
  "users.edit": changes(
    "/users/:username",
    { username: "string", entry: "body" },
    async (ctx, input) => (await usersEdit()).editUser(ctx, input),
    edits,
  ),
  "users.remove": changes(
    "/users/:username",
    { username: "string" },
    async (ctx, input) => (await usersEdit()).removeUser(ctx, input),
    removes,
  ),
  "users.suspend": changes("/users/:username/suspend", { username: "string" }, async (ctx, input) =>
    (await users()).suspendUser(ctx, input),
  ),
  "users.ban": changes("/users/:username/ban", { username: "string" }, async (ctx, input) =>
    (await users()).banUser(ctx, input),
  ),
  "users.restore": changes("/users/:username/restore", { username: "string" }, async (ctx, input) =>
    (await users()).restoreUser(ctx, input),
  ),
};
