import type { OperationName } from "../../core/operations/table.ts";

/** OpenAPI links: how to show, change and remove what a POST has made. */

interface Made {
  /** Where the name of the new record is in the answer (RFC 6901). */
  readonly at: string;
  /** The path parameter that takes it. */
  readonly parameter: string;
  readonly to: readonly OperationName[];
}

const grant: Made = { at: "/id", parameter: "id", to: ["grants.show", "grants.edit", "grants.revoke"] };

const made: Readonly<Partial<Record<OperationName, Made>>> = {
  "users.add": { at: "/username", parameter: "username", to: ["users.show", "users.edit", "users.remove"] },
  "clients.add": { at: "/client_id", parameter: "client_id", to: ["clients.show", "clients.edit", "clients.remove"] },
  "grants.add": grant,
  "issue.grant": grant,
  "faults.add": { at: "/id", parameter: "id", to: ["faults.remove"] },
  "issuers.add": { at: "/name", parameter: "name", to: ["issuers.show", "issuers.remove"] },
  "keys.rotate": { at: "/0/kid", parameter: "id", to: ["keys.show", "keys.remove"] },
};

/** The `links` of the answer of an operation; undefined if it makes nothing that has a path. */
export function linksOf(name: OperationName): Readonly<Record<string, unknown>> | undefined {
  const found = made[name];
  if (found === undefined) return undefined;
  const { at, parameter, to } = found;
  return Object.fromEntries(
    to.map((operationId) => [operationId, { operationId, parameters: { [parameter]: `$response.body#${at}` } }]),
  );
}
