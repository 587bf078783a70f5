import { changes, creates, reads, removes } from "./operation.ts";
import { fixtureBody, meantBy } from "../fixtures/read/input-sources.ts";

/** The issuers beside the first one; `issuer.set` is in state.ts. */

export const issuerOperations = {
  "issuers.list": reads("/issuers", {}, (ctx) => ctx.issuers.list()),
  "issuers.add": changes(
    "/issuers",
    { name: "string", fixtures: "any?", sources: "array?" },
    async (ctx, { name, fixtures, sources }) => ctx.issuers.add(name, meantBy(sources, fixtures)),
    { ...creates, bodyLimit: fixtureBody, createsData: true },
  ),
  "issuers.show": reads("/issuers/:name", { name: "string" }, (ctx, { name }) => ctx.issuers.show(name)),
  "issuers.remove": changes(
    "/issuers/:name",
    { name: "string" },
    async (ctx, { name }) => {
      await ctx.issuers.remove(name);
      return null;
    },
    removes,
  ),
};
