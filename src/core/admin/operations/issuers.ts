import * as z from "zod";
import { declare, none, nothing } from "./operation.ts";
import * as given from "./schemas/given.ts";
import * as shown from "./schemas/shown.ts";
import { issuerName } from "../../base/identifiers.ts";
import { forbidden } from "../../records/operators/roles.ts";
import { sourcesOf } from "../../base/fixture-files/source.ts";
import { withRules } from "./schemas/rules.ts";
import { ruleAndValue } from "../../records/fields.ts";

/** The issuers beside the first one; `issuer.set` is in state.ts. */

export const issuerOperations = {
  "issuers.list": declare({
    input: nothing,
    answer: z.array(shown.issuer),
    run: (ctx) => ctx.issuers.list(),
  }),
  "issuers.add": declare({
    note: "Without fixtures it has those of the first issuer. What fixtures name must exist, and their settings must allow it: 422.",
    input: withRules(
      z.strictObject({
        name: z.string().regex(issuerName, ruleAndValue("must be 1 to 64 letters, digits, _ and -, such as tenant-a")),
        ...given.fixtureFields,
      }),
      given.oneOfThem,
    ),
    answer: shown.issuer,
    refuses: [409],
    run: (ctx, input, { by }) =>
      ctx.issuers.add(input.name, sourcesOf(input), by?.role === "tester" ? by.name : undefined),
  }),
  "issuers.show": declare({
    input: z.strictObject({ name: z.string() }),
    answer: shown.issuer,
    refuses: [404],
    run: (ctx, { name }) => ctx.issuers.show(name),
  }),
  "issuers.remove": declare({
    input: z.strictObject({ name: z.string() }),
    answer: none,
    refuses: [404],
    run: async (ctx, { name }, { by }) => {
      if (by?.role === "tester" && (await ctx.issuers.show(name)).addedBy !== by.name)
        throw forbidden(by, `issuers remove of an issuer that '${by.name}' did not add`, "admin");
      await ctx.issuers.remove(name);
      return null;
    },
  }),
};
