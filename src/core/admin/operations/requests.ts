import * as z from "zod";
import { declare, none, nothing } from "./operation.ts";
import * as shown from "./schemas/shown.ts";
import { plainCommandLine } from "../../base/hint.ts";
import { requestJson } from "../../testing/ledger/request-json.ts";
import { atMostOne, withRules } from "./schemas/rules.ts";
import { requestOrTime, wait, whole } from "./schemas/times.ts";
import { grantTypeText } from "../../testing/controls/faults/schema.ts";
import {
  expectEndpoints,
  listRequests,
  requestEndpoints,
  showRequest,
  statusForm,
} from "../../testing/ledger/filter.ts";
import { recordedName } from "../../testing/ledger/redact-record.ts";

/** The requests that this server received, and all others on the same store: the ledger. */

const notStatus = {
  error: ({ input }: { readonly input?: unknown }) =>
    `must be a status such as 400, or a class such as 4xx; it is ${JSON.stringify(input)}`,
};

const text = z.string().optional();

/** What a request must have to match. */
const filters = {
  endpoint: z.enum(requestEndpoints).optional(),
  client: text,
  user: text,
  grant_type: grantTypeText.optional(),
  method: text,
  status: z
    .union(
      [z.int(notStatus).min(100, notStatus).max(599, notStatus), z.string(notStatus).regex(statusForm, notStatus)],
      notStatus,
    )
    .optional()
    .describe("400, or 4xx"),
  flow: text,
  since: requestOrTime.optional(),
};

const recorded = z.string().regex(recordedName, { error: "is never kept, so no request can be found by it" });

/** Each is compared with those of every request that the ledger holds. */
const maxParams = 20;
const params = z
  .record(recorded, z.string())
  .refine((given) => Object.keys(given).length <= maxParams, { error: `has more than ${maxParams} parameters` })
  .meta({ maxProperties: maxParams });

export const requestOperations = {
  "requests.list": declare({
    input: z.strictObject({
      ...filters,
      parts: z
        .boolean()
        .optional()
        .describe("With `reason`, `next` and `faults`: error, fix and fault in parts, for programs"),
    }),
    answer: z.array(shown.request),
    run: async (ctx, { parts, ...filter }, { commandLine = plainCommandLine }) => {
      const records = await listRequests(ctx.ledger, filter);
      return records.map((record) => requestJson(record, commandLine, parts));
    },
  }),
  "requests.show": declare({
    input: z.strictObject({ id: z.string() }),
    answer: shown.request,
    refuses: [404],
    run: async (ctx, { id }, { commandLine = plainCommandLine }) =>
      requestJson(await showRequest(ctx.ledger, id), commandLine),
  }),
  "requests.clear": declare({
    input: nothing,
    answer: none,
    run: async (ctx) => {
      await ctx.ledger.clear();
      return null;
    },
  }),
  expect: declare({
    note: "Without times, at_least and never it means at least once.",
    input: withRules(
      z.strictObject({
        ...filters,
        endpoint: z.enum(expectEndpoints),
        param: params.optional().describe("Parameters that were sent, by their names"),
        times: whole(0, 1_000_000).optional(),
        at_least: whole(1, 1_000_000).optional(),
        never: z.boolean().optional(),
        within: wait.optional(),
      }),
      atMostOne(
        ["times", "at_least", "never"],
        ([, ...others]) => `is given beside ${others.join(" and ")}; give only one of them`,
      ),
    ),
    answer: z.object({
      met: z.boolean(),
      count: z.int().describe("How many requests match"),
      expected: z.string().describe("In words"),
      dropped: z.boolean().describe("The ledger no longer holds older requests that could match"),
      nearest: z.array(z.object({ request: shown.request, differs: z.array(z.string()) })),
    }),
    refuses: [409],
    run: async (ctx, input, { commandLine = plainCommandLine, by }) =>
      (await import("../../testing/ledger/expect.ts")).expectRequests(ctx.ledger, input, commandLine, by),
  }),
};
