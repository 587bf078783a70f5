import { issuerName } from "../issuers/issuer-view.ts";
import { forbidden } from "../operators/roles.ts";
import { fixtureBody, sourcesOf } from "../fixture-files/source.ts";
import { changes, creates, none, nothing, reads, removes } from "./operation.ts";
import { withRules } from "./schemas/rules.ts";

/** The issuers beside the first one; `issuer.set` is in state.ts. */

const issuer = async () => (await import("./schemas/shown.ts")).issuer;

export const issuerOperations = {
  "issuers.list": reads("/issuers", {
    role: "reader",
    summary: "List the issuers beside the first one, by name",
    input: nothing,
    answer: async (zod) => zod.array(await issuer()),
    run: (ctx) => ctx.issuers.list(),
  }),
  "issuers.add": changes(
    "/issuers",
    {
      role: "tester",
      summary: "Make an issuer with its own data, at `/i/NAME` below the first one",
      note: "Without fixtures it has those of the first issuer. What fixtures name must exist, and their settings must allow it: 422.",
      input: async (zod) => {
        const { fixtureFields, oneOfThem } = await import("./schemas/given.ts");
        const { ruleAndValue } = await import("../fields.ts");
        const rule = "must be 1 to 64 letters, digits, _ and -, such as tenant-a";
        const name = zod.string().regex(issuerName, ruleAndValue(rule));
        return withRules(zod.strictObject({ name, ...fixtureFields }), oneOfThem);
      },
      answer: issuer,
      refuses: [409],
      run: (ctx, input, { by }) =>
        ctx.issuers.add(input.name, sourcesOf(input), by?.role === "tester" ? by.name : undefined),
    },
    { ...creates, bodyLimit: fixtureBody, createsData: true },
  ),
  "issuers.show": reads("/issuers/:name", {
    role: "reader",
    summary: "Show an issuer",
    input: (zod) => zod.strictObject({ name: zod.string() }),
    answer: issuer,
    refuses: [404],
    run: (ctx, { name }) => ctx.issuers.show(name),
  }),
  "issuers.remove": changes(
    "/issuers/:name",
    {
      role: "tester",
      summary: "Remove an issuer and all of its data",
      input: (zod) => zod.strictObject({ name: zod.string() }),
      answer: none,
      refuses: [404],
      run: async (ctx, { name }, { by }) => {
        if (by?.role === "tester" && (await ctx.issuers.show(name)).addedBy !== by.name)
          throw forbidden(by, `issuers remove of an issuer that '${by.name}' did not add`, "admin");
        await ctx.issuers.remove(name);
        return null;
      },
    },
    removes,
  ),
};
