import { plainCommandLine } from "../hint.ts";
import { requestJson } from "../ledger/request-json.ts";
import { changes, none, nothing, reads, removes } from "./operation.ts";
import type { Zod } from "./schemas/zod.ts";
import { atMostOne, withRules } from "./schemas/rules.ts";

/** The requests that this server received, and all others on the same store: the ledger. */

const filter = () => import("../ledger/filter.ts");
const request = async () => (await import("./schemas/shown.ts")).request;

const notStatus = {
  error: ({ input }: { readonly input?: unknown }) =>
    `must be a status such as 400, or a class such as 4xx; it is ${JSON.stringify(input)}`,
};

/** What a request must have to match. */
const filters = async (zod: Zod) => {
  const text = zod.string().optional();
  const { statusForm, requestEndpoints } = await filter();
  const { grantTypeText } = await import("../controls/faults/schema.ts");
  const { requestOrTime } = await import("./schemas/times.ts");
  return {
    endpoint: zod.enum(requestEndpoints).optional(),
    client: text,
    user: text,
    grant_type: grantTypeText.optional(),
    method: text,
    status: zod
      .union(
        [
          zod.int(notStatus).min(100, notStatus).max(599, notStatus),
          zod.string(notStatus).regex(statusForm, notStatus),
        ],
        notStatus,
      )
      .optional()
      .describe("400, or 4xx"),
    flow: text,
    since: requestOrTime.optional(),
  };
};

export const requestOperations = {
  "requests.list": reads(
    "/requests",
    {
      role: "reader",
      summary: "List the last requests, the oldest first",
      input: async (zod) => zod.strictObject(await filters(zod)),
      answer: async (zod) => zod.array(await request()),
      run: async (ctx, input, { commandLine = plainCommandLine }) => {
        const records = await (await filter()).listRequests(ctx.ledger, input);
        return records.map((record) => requestJson(record, commandLine));
      },
    },
    { needsServer: true },
  ),
  "requests.show": reads(
    "/requests/:id",
    {
      role: "reader",
      summary: "Show a request",
      input: (zod) => zod.strictObject({ id: zod.string() }),
      answer: request,
      refuses: [404],
      run: async (ctx, { id }, { commandLine = plainCommandLine }) =>
        requestJson(await (await filter()).showRequest(ctx.ledger, id), commandLine),
    },
    { needsServer: true },
  ),
  "requests.clear": changes(
    "/requests",
    {
      role: "tester",
      summary: "Forget all requests",
      input: nothing,
      answer: none,
      run: async (ctx) => {
        await ctx.ledger.clear();
        return null;
      },
    },
    { ...removes, changes: false, needsServer: true },
  ),
  expect: changes(
    "/expect",
    {
      role: "reader",
      summary: "Say whether an app asked what it is expected to, and show the nearest misses",
      note: "Without times, at_least and never it means at least once.",
      input: async (zod) => {
        const { expectEndpoints } = await filter();
        const { recordedName } = await import("../ledger/redact-record.ts");
        const { wait } = await import("./schemas/times.ts");
        const { whole } = await import("./schemas/given.ts");
        const name = zod.string().regex(recordedName, { error: "is never kept, so no request can be found by it" });
        return withRules(
          zod.strictObject({
            ...(await filters(zod)),
            endpoint: zod.enum(expectEndpoints),
            param: zod.record(name, zod.string()).optional().describe("Parameters that were sent, by their names"),
            times: whole(0, 1_000_000).optional(),
            at_least: whole(1, 1_000_000).optional(),
            never: zod.boolean().optional(),
            within: wait.optional(),
          }),
          atMostOne(["times", "at_least", "never"], () => "give only one of times, at_least and never"),
        );
      },
      answer: async (zod) =>
        zod.object({
          met: zod.boolean(),
          count: zod.int().describe("How many requests match"),
          expected: zod.string().describe("In words"),
          dropped: zod.boolean().describe("The ledger no longer holds older requests that could match"),
          nearest: zod.array(zod.object({ request: await request(), differs: zod.array(zod.string()) })),
        }),
      run: async (ctx, input, { commandLine = plainCommandLine }) =>
        (await import("../ledger/expect.ts")).expectRequests(ctx.ledger, input, commandLine),
    },
    { changes: false, needsServer: true },
  ),
};
