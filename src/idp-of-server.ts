import { OperationError } from "./core/base/errors.ts";
import { changeFixtures } from "./core/admin/seed/apply.ts";
import { unknownIssuer } from "./core/records/issuers/issuer.ts";
import { runOperation } from "./core/admin/operations/table.ts";
import type { Idp, IdpIssuer, IdpIssuers } from "./idp.ts";
import { issuerMethods } from "./issuer-methods.ts";
import type { Issuer } from "./serve/issuer.ts";
import type { Server } from "./serve/server.ts";
import { explained } from "./serve/uncaught.ts";

/** What `createIdp` returns. Apart from its types (idp.ts), which programs read without those of Express. */

/** @param server that answers requests */
export function idpOf(server: Server): Idp {
  const { issuer: first, issuers, port, app, adminToken, isClosing, closed, close, reloadPages, commandLine } = server;
  /** Refuses calls after a close, when data in memory would still answer although no request reaches it. */
  const whileOpen = <T>(work: () => Promise<T>): Promise<T> =>
    explained(async () => {
      if (!isClosing()) return work();
      throw new OperationError("no_server", "this idp is closed", {
        hint: "Close it after its last use, for example in afterAll, or start another one: createIdp()",
      });
    });
  const issuerOf = (issuer: Issuer): IdpIssuer => {
    const { name, ctx, seeded } = issuer;
    const whileThere = <T>(work: () => Promise<T>): Promise<T> =>
      whileOpen(() => {
        if (issuers.find(name) === issuer) return work();
        throw new OperationError("not_found", `the issuer "${name ?? ""}" was removed`);
      });
    return {
      get issuer() {
        return ctx.issuer;
      },
      ...{ port, app, adminToken, seeded },
      ...issuerMethods(
        () => ctx.issuer,
        (operation, input) =>
          whileThere(() => runOperation(ctx, operation, input, { server: null, commandLine: commandLine(name) })),
      ),
      changeFixtures: (others) => whileThere(() => changeFixtures(ctx, others)),
    };
  };
  const get = (name: string): IdpIssuer => {
    const issuer = issuers.find(name);
    if (issuer === undefined) throw unknownIssuer(name, issuers.names());
    return issuerOf(issuer);
  };
  const others: IdpIssuers = {
    add: (name, { fixtures, ...more } = {}) =>
      whileOpen(async () => {
        // Programs in JavaScript have no compiler.
        const [unknown] = Object.keys(more);
        if (unknown !== undefined)
          throw new OperationError("usage", `issuers.add has no option "${unknown}"`, { hint: "It has: fixtures" });
        await issuers.add(name, fixtures);
        return get(name);
      }),
    get,
    list: () => whileOpen(() => issuers.list()),
    remove: (name) => whileOpen(() => issuers.remove(name)),
  };
  return Object.assign(issuerOf(first), { issuers: others, closed, close, reloadPages });
}
