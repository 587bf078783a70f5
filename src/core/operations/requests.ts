import type { Expectation } from "../testing/expect.ts";
import type { RequestFilter } from "../testing/filter.ts";
import { changes, reads, removes, type Fields } from "./operation.ts";

/** The requests that this server received: the ledger, which is in its memory. */

const filterFields = {
  endpoint: "string?",
  client: "string?",
  user: "string?",
  grant_type: "string?",
  method: "string?",
  status: "any?",
  flow: "string?",
  since: "string?",
} as const satisfies Fields;

const filter = () => import("../testing/filter.ts");

export const requestOperations = {
  "requests.list": {
    ...reads("/requests", filterFields, async (ctx, input) =>
      (await filter()).listRequests(ctx.ledger, input as RequestFilter),
    ),
    needsServer: true,
  },
  "requests.show": {
    ...reads("/requests/:id", { id: "string" }, async (ctx, { id }) => (await filter()).showRequest(ctx.ledger, id)),
    needsServer: true,
  },
  "requests.clear": changes(
    "/requests",
    {},
    (ctx) => {
      ctx.ledger.clear();
      return Promise.resolve(null);
    },
    { ...removes, changes: false, needsServer: true },
  ),
  expect: changes(
    "/expect",
    {
      ...filterFields,
      endpoint: "string",
      param: "any?",
      times: "number?",
      at_least: "number?",
      never: "boolean?",
      within: "any?",
    },
    async (ctx, input) =>
      (await import("../testing/expect.ts")).expectRequests(ctx.ledger, input as unknown as Expectation),
    { changes: false, needsServer: true },
  ),
};
