import * as z from "zod";
import { declare, none } from "./operation.ts";
import * as shown from "./schemas/shown.ts";
import { needsOneOf, withRules } from "./schemas/rules.ts";

/** Sessions of browsers. */

const sessions = () => import("../../sign-in/sessions/admin.ts");

export const sessionOperations = {
  "sessions.list": declare({
    input: z.strictObject({ user: z.string().optional() }),
    answer: z.array(shown.session),
    refuses: [404],
    run: async (ctx, input) => (await sessions()).listSessions(ctx, input),
  }),
  "sessions.begin": declare({
    input: z.strictObject({
      user: z.string(),
      sign_in: z.string().describe("The id in the address of its pages"),
      csrf: z.string().describe("The value on its login page"),
    }),
    answer: z.object({
      user: z.string(),
      cookie: z.string().describe("The value of the session cookie"),
      expiresAt: z.string().describe("ISO 8601"),
    }),
    refuses: [404, 409],
    run: async (ctx, input) => (await import("../../sign-in/login/begin-session.ts")).beginSession(ctx, input),
  }),
  "sessions.end": declare({
    input: withRules(
      z.strictObject({ user: z.string().optional(), id: z.string().optional() }),
      needsOneOf(["user", "id"], "needs a user or the id of a session"),
    ),
    answer: z.object({
      ended: z.array(shown.session),
      notices: z.array(z.object({ client: z.string(), ok: z.boolean(), detail: z.string() })),
    }),
    refuses: [404],
    run: async (ctx, input) => (await sessions()).endSelected(ctx, input),
  }),
  "sessions.show": declare({
    input: z.strictObject({ id: z.string() }),
    answer: shown.session,
    refuses: [404],
    run: async (ctx, input) => (await sessions()).showSession(ctx, input),
  }),
  "sessions.remove": declare({
    input: z.strictObject({ id: z.string() }),
    answer: none,
    refuses: [404],
    run: async (ctx, input) => (await sessions()).endSession(ctx, input),
  }),
};
